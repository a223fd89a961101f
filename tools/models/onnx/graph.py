"""Builds ONNX graphs: every method adds a node and returns the name of its output."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Supported by every ONNX Runtime since 1.12; later operator sets have no benefit here.
OPSET = 17
IR_VERSION = 8

Dim = int | str


class Graph:
    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, values: np.ndarray) -> str:
        """Adds a tensor that is stored in the file; a name identifies one tensor."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def floats(self, name: str, values: object) -> str:
        return self.constant(name, np.asarray(values, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant("integers_" + "_".join(map(str, values)), np.asarray(values, np.int64))

    def single(self, name: str, value: np.generic) -> str:
        """Adds a number without dimensions, which some operators require."""
        self._constants.setdefault(name, numpy_helper.from_array(np.asarray(value), name))
        return name

    def scalar(self, value: int) -> str:
        return self.constant(f"scalar_{value}", np.asarray(value, np.int64))

    def length(self, x: str) -> str:
        """Returns the length of the third dimension as a list of one number."""
        return self.add("Slice", [self.add("Shape", [x]), self.integers(2), self.integers(3)])

    def add(self, operator: str, inputs: Sequence[str], **attributes: object) -> str:
        output = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def model(
        self, inputs: Mapping[str, tuple[int, Sequence[Dim]]], result: tuple[str, str, Sequence[Dim]], domains: Sequence[str] = ()
    ) -> onnx.ModelProto:
        """
        Returns the finished model. Each input has an element type and dimensions. The output `result` is the computed value, its
        name and its dimensions. `domains` are the domains of operators outside ONNX's own, in their first version.
        """
        computed, called, dims = result
        self._nodes.append(helper.make_node("Identity", [computed], [called]))
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [helper.make_tensor_value_info(name, kind, list(dims)) for name, (kind, dims) in inputs.items()],
            [helper.make_tensor_value_info(called, TensorProto.FLOAT, list(dims))],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="transcribe")
        model.ir_version = IR_VERSION
        return model
