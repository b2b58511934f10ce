#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Llama, Qwen or Mistral of tt-metal's tt_transformers, built with weights of no value and run once: prefill, then decode. Nothing in it is about
ttmem, and it needs no board and no download:

    ttmem fit --board n150,p150 -- python3 llama.py --layers 32 --tokens 131072
    ttmem fit --find 'TOKENS=1024..131072*2' -- python3 llama.py --layers 32 --tokens {TOKENS}
    ttmem run --board t3k -- python3 llama.py --mesh 1x8

Run it in a clone of tenstorrent/tt-metal with ttnn, torch and transformers installed. HF_MODEL names the model (default
meta-llama/Llama-3.1-8B-Instruct), of which models/tt_transformers/model_params has the shapes.
"""

import argparse
import os

os.environ.setdefault("HF_MODEL", "meta-llama/Llama-3.1-8B-Instruct")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MESH_DEVICE", "N150")

import torch
import ttnn
from models.tt_transformers.tt.common import PagedAttentionConfig
from models.tt_transformers.tt.model import Transformer
from models.tt_transformers.tt.model_config import DecodersPrecision, ModelArgs

BLOCK = 32  # tokens of a block of the paged KV cache


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, help="layers to build (default: all)")
    parser.add_argument("--tokens", type=int, default=1024, help="of the KV cache of each user")
    parser.add_argument("--batch", type=int, default=1, help="users")
    parser.add_argument("--mesh", default="1x1", help="chips: ROWSxCOLUMNS")
    parser.add_argument("--steps", type=int, default=1, help="decode steps")
    return parser.parse_args()


def weights_of_no_value(args):
    """Shapes from torch's meta device, one zero behind each tensor: memory on the device is what it is with real weights."""
    with torch.device("meta"):
        weights = args.load_state_dict()
    return {name: torch.zeros((), dtype=torch.bfloat16).expand(weight.shape) for name, weight in weights.items()}


def prefill(model, pages, tokens):
    inputs = model.prepare_inputs_prefill(torch.zeros(1, tokens, dtype=torch.int64), page_table=pages[:1])
    x, rotation, local_rotation, page_table, chunk_page_table = (list(inputs) + [None] * 5)[:5]
    model.ttnn_prefill_forward(
        x,
        rot_mats_global=rotation,
        rot_mats_local=local_rotation,
        user_id=0,
        page_table=page_table,
        chunk_page_table=chunk_page_table,
        get_last_token=(tokens - 1) // 32 * 32,
    )


def decode(model, pages, batch, steps):
    zeros = torch.zeros(batch, dtype=torch.int64)
    tokens, position, rotation, page_table = model.prepare_inputs_decode(zeros, zeros, pages)[:4]
    for _ in range(steps):
        logits = model.ttnn_decode_forward(tokens, position, rot_mat_idxs=rotation, page_table=page_table)
    return logits


def main():
    options = arguments()
    rows, columns = map(int, options.mesh.split("x"))
    if rows * columns > 1:
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    device = ttnn.open_mesh_device(ttnn.MeshShape(rows, columns))
    args = ModelArgs(
        device,
        instruct=False,
        dummy_weights=True,
        optimizations=lambda args: DecodersPrecision.performance(args.n_layers, args.model_name),
        max_seq_len=options.tokens,
        max_batch_size=options.batch,
        cache_hf=True,
    )
    args.n_layers = options.layers or args.n_layers
    blocks = max(1, options.tokens // BLOCK) * options.batch
    model = Transformer(
        args=args,
        mesh_device=device,
        dtype=ttnn.bfloat8_b,
        state_dict=weights_of_no_value(args),
        weight_cache_path=None,
        paged_attention_config=PagedAttentionConfig(block_size=BLOCK, max_num_blocks=blocks),
    )
    pages = torch.arange(blocks, dtype=torch.int32).reshape(options.batch, -1)
    prefill(model, pages, min(options.tokens, 128))
    decode(model, pages, options.batch, options.steps)
    ttnn.close_mesh_device(device)


if __name__ == "__main__":
    main()
