#dram = #ttnn.buffer_type<dram>
#loc = loc(unknown)
#system_memory = #ttnn.buffer_type<system_memory>
#system_desc = #ttcore.system_desc<[{role = host, target_triple = "x86_64-pc-linux"}], [{arch = <wormhole_b0>, grid = 8x8, l1_size = 1499136, num_dram_channels = 12, noc_l1_address_align_bytes = 16, noc_dram_address_align_bytes = 32, l1_unreserved_base = 105824}], [0], [1 : i32], [ 0x0x0x0]>
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8192x4096xbf16, #system_memory>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8192x4096xbf16, #dram>, <interleaved>>
#whole = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<256x128x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#part = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x128x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x128x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#y = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x32x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module @Parts attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x8>]>, ttcore.system_desc = #system_desc} {
  ttcore.device_module {
    builtin.module @Parts {
      func.func private @main_const_eval_0(%arg0: tensor<8192x4096xbf16, #host> loc(unknown)) -> tensor<1024x4096xbf16, #part> attributes {tt.function_type = "const_eval"} {
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x8>}> : () -> !ttnn.device loc(#loc)
        %1 = "ttnn.to_device"(%arg0, %0) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<8192x4096xbf16, #host>, !ttnn.device) -> tensor<8192x4096xbf16, #rows> loc(#loc)
        %2 = "ttnn.to_layout"(%1) <{layout = #ttnn.layout<tile>}> : (tensor<8192x4096xbf16, #rows>) -> tensor<8192x4096xbf16, #whole> loc(#loc)
        "ttnn.deallocate"(%1) <{force = false}> : (tensor<8192x4096xbf16, #rows>) -> () loc(#loc)
        %3 = "ttnn.mesh_shard"(%2, %0) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 8, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8192x4096xbf16, #whole>, !ttnn.device) -> tensor<1024x4096xbf16, #part> loc(#loc)
        "ttnn.deallocate"(%2) <{force = false}> : (tensor<8192x4096xbf16, #whole>) -> () loc(#loc)
        return %3 : tensor<1024x4096xbf16, #part> loc(#loc)
      } loc(#loc)
      func.func @main(%arg0: tensor<32x4096xbf16, #x> {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = "x"} loc(unknown), %arg1: tensor<8192x4096xbf16, #host> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.local_shape = #ttcore<local_shape local_shape = tensor<1024x4096xbf16>>, ttcore.shard_status = #ttcore.shard_status<presharded>, ttir.name = "layers.0.weight"} loc(unknown)) -> (tensor<32x1024xbf16, #y>) {
        %0 = ttcore.load_cached(@main_const_eval_0, [%arg1]) : (tensor<8192x4096xbf16, #host>) -> tensor<1024x4096xbf16, #part> loc(#loc)
        %1 = "ttnn.matmul"(%arg0, %0) <{transpose_a = false, transpose_b = true}> : (tensor<32x4096xbf16, #x>, tensor<1024x4096xbf16, #part>) -> tensor<32x1024xbf16, #y> loc(#loc)
        return %1 : tensor<32x1024xbf16, #y> loc(#loc)
      } loc(#loc)
    }
  }
}
