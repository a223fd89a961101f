/** A matrix of 64-bit numbers, row by row. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
}

export function matrix(rows: number, columns: number, at: (row: number, column: number) => number): Matrix {
  const values = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) values[row * columns + column] = at(row, column);
  }
  return { rows, columns, values };
}

/** The row as a view. */
export function rowOf({ columns, values }: Matrix, row: number): Float64Array {
  return values.subarray(row * columns, (row + 1) * columns);
}

export function map(from: Matrix, change: (value: number, row: number, column: number) => number): Matrix {
  return matrix(from.rows, from.columns, (row, column) =>
    change(from.values[row * from.columns + column] ?? 0, row, column),
  );
}

export function sum(one: Matrix, other: Matrix, scale = 1): Matrix {
  return { ...one, values: one.values.map((value, i) => value + scale * (other.values[i] ?? 0)) };
}

/** Returns the product of each row with each row of weights: `weights` is [outputs][inputs], as models store them. */
export function product(from: Matrix, weights: Matrix): Matrix {
  return matrix(from.rows, weights.rows, (row, output) => dot(rowOf(from, row), rowOf(weights, output)));
}

export function dot(one: Float64Array, other: Float64Array): number {
  let total = 0;
  for (let i = 0; i < one.length; i++) total += (one[i] ?? 0) * (other[i] ?? 0);
  return total;
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

export function silu(x: number): number {
  return x * sigmoid(x);
}
