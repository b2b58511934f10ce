# SPDX-License-Identifier: Apache-2.0
"""The ten largest tensors when DRAM was fullest, as a pandas table.

    $ largest_tensors.py demo/llama_small.log.zst
                                        name   class       shape dtype  bank_bytes
                   model.embed_tokens.weight weights 128256x4096  bf16    87556096
                        model.lm_head.weight weights 128256x4096  bf16    87556096
                adapter1.embed_tokens.weight weights 128256x4096  bf16    87556096
    model.layers.0.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.1.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.2.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.3.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.4.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.5.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
    model.layers.6.self_attn.qkv_proj.weight weights  12288x4096  bf16     8388608
"""
import sys

import pyarrow
import ttmem

tensors = pyarrow.table(ttmem.read(sys.argv[1]).tensors).to_pandas()
at_peak = tensors[tensors.alive_at_peak & (tensors.memory == "DRAM")]
print(at_peak.nlargest(10, "bank_bytes")[["name", "class", "shape", "dtype", "bank_bytes"]].to_string(index=False))
