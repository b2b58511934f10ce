# SPDX-License-Identifier: Apache-2.0
"""Convolutions and a pool that free and move their inputs, in L1, without torch. usage: freeing_convolutions.py"""

import ttnn

CHANNELS, SIDE = 64, 32


def new(device, *shape, layout=ttnn.ROW_MAJOR_LAYOUT, on=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=layout, device=device, memory_config=on)


def weights():
    volume = CHANNELS * CHANNELS * 9
    return ttnn.Tensor([0.0] * volume, [CHANNELS, CHANNELS, 3, 3], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=24576)
    config = ttnn.Conv2dConfig(
        weights_dtype=ttnn.bfloat16, shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED, deallocate_activation=True, reallocate_halo_output=True
    )
    weight = weights()
    for _ in range(2):
        x = new(device, 1, 1, SIDE * SIDE, CHANNELS)
        for _ in range(3):
            x, weight = ttnn.conv2d(
                input_tensor=x, weight_tensor=weight, device=device, in_channels=CHANNELS, out_channels=CHANNELS, batch_size=1, input_height=SIDE,
                input_width=SIDE, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), conv_config=config, return_weights_and_bias=True,
            )[0:2]
            if isinstance(weight, (list, tuple)):
                weight = weight[0]
        x = ttnn.max_pool2d(
            input_tensor=x, batch_size=1, input_h=SIDE, input_w=SIDE, channels=CHANNELS, kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1],
            deallocate_input=True, reallocate_halo_output=True,
        )
        ttnn.deallocate(x)
    ttnn.close_device(device)


main()
