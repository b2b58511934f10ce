# SPDX-License-Identifier: Apache-2.0
"""A small convolution net: images and weights from torch, three convolutions with pooling between, a classifier."""

import torch
import ttnn
from own_view import View

BATCH, SIDE, CLASSES = 8, 56, 1000
LAYERS = ((64, 128, 2), (128, 256, 2), (256, 256, 1))  # channels in, channels out, step


class Convolution:
    def __init__(self, device, inputs, outputs, step):
        self.device, self.inputs, self.outputs, self.step = device, inputs, outputs, step
        self.weight = ttnn.from_torch(torch.randn(outputs, inputs, 3, 3), dtype=ttnn.bfloat16)
        self.bias = ttnn.from_torch(torch.randn(1, 1, 1, outputs), dtype=ttnn.bfloat16)

    def forward(self, x, side, view):
        x, (height, width), (self.weight, self.bias) = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            device=self.device,
            in_channels=self.inputs,
            out_channels=self.outputs,
            batch_size=BATCH,
            input_height=side,
            input_width=side,
            kernel_size=(3, 3),
            stride=(self.step, self.step),
            padding=(1, 1),
            conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, deallocate_activation=True),
            slice_config=ttnn.Conv2dL1FullSliceConfig,  # the whole image in L1, none of it sliced through DRAM
            return_output_dim=True,
            return_weights_and_bias=True,
        )
        view.after("conv2d")
        return x, height


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=16384)
    view = View(device)
    layers = [Convolution(device, *layer) for layer in LAYERS]
    classifier = ttnn.from_torch(torch.randn(1, 1, LAYERS[-1][1], CLASSES), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view.after("from_torch")
    for _ in range(3):
        side = SIDE
        x = ttnn.from_torch(torch.randn(1, 1, BATCH * SIDE * SIDE, LAYERS[0][0]), dtype=ttnn.bfloat16, device=device)
        view.after("from_torch")
        for layer in layers:
            x, side = layer.forward(x, side, view)
            x = ttnn.relu(x)
            view.after("relu")
        x = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
        view.after("to_memory_config")
        x = ttnn.reshape(x, (BATCH, 1, side * side, LAYERS[-1][1]))
        view.after("reshape")
        x = ttnn.mean(x, dim=2, keepdim=True)
        view.after("mean")
        x = ttnn.linear(x, classifier)
        view.after("linear")
        x = ttnn.softmax(x, dim=-1)
        view.after("softmax")
        ttnn.deallocate(x)
        view.after("deallocate")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
