#dram = #ttnn.buffer_type<dram>
#loc = loc(unknown)
#system_memory = #ttnn.buffer_type<system_memory>
#system_desc = #ttcore.system_desc<[{role = host, target_triple = "x86_64-pc-linux"}], [{arch = <wormhole_b0>, grid = 8x8, l1_size = 1499136, num_dram_channels = 12, noc_l1_address_align_bytes = 16, noc_dram_address_align_bytes = 32, l1_unreserved_base = 105824}], [0], [1 : i32], [ 0x0x0x0]>
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4096x4096xbf16, #system_memory>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4096x4096xbf16, #dram>, <interleaved>>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x128x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#cube = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 4096 + d1, d2), <1x1>, memref<128x128x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x2x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <block_sharded>>
#small = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module @Program attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>, ttcore.system_desc = #system_desc} {
  ttcore.device_module {
    builtin.module @Program {
      func.func private @main_const_eval_0(%arg0: tensor<4096x4096xbf16, #host> loc(unknown)) -> tensor<4096x4096xbf16, #tiles> attributes {tt.function_type = "const_eval"} {
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device loc(#loc)
        %1 = "ttnn.to_device"(%arg0, %0) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<4096x4096xbf16, #host>, !ttnn.device) -> tensor<4096x4096xbf16, #rows> loc(#loc)
        %2 = "ttnn.to_layout"(%1) <{layout = #ttnn.layout<tile>}> : (tensor<4096x4096xbf16, #rows>) -> tensor<4096x4096xbf16, #tiles> loc(#loc)
        "ttnn.deallocate"(%1) <{force = false}> : (tensor<4096x4096xbf16, #rows>) -> () loc(#loc)
        return %2 : tensor<4096x4096xbf16, #tiles> loc(#loc)
      } loc(#loc)
      func.func @main(%arg0: tensor<4096x4096xbf16, #tiles> {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = "x"} loc(unknown), %arg1: tensor<4096x4096xbf16, #host> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "layers.0.weight"} loc(unknown), %arg2: tensor<256x512xbf16, #small> {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = "mask"} loc(unknown)) -> (tensor<4096x4096xbf16, #tiles>) {
        %0 = ttcore.load_cached(@main_const_eval_0, [%arg1]) : (tensor<4096x4096xbf16, #host>) -> tensor<4096x4096xbf16, #tiles> loc(#loc)
        "ttnn.deallocate"(%arg1) <{force = false}> : (tensor<4096x4096xbf16, #host>) -> () loc(#loc)
        %1 = "ttnn.matmul"(%arg0, %0) <{transpose_a = false, transpose_b = true}> : (tensor<4096x4096xbf16, #tiles>, tensor<4096x4096xbf16, #tiles>) -> tensor<4096x4096xbf16, #tiles> loc(#loc1)
        "ttnn.deallocate"(%0) <{force = false}> : (tensor<4096x4096xbf16, #tiles>) -> () loc(#loc1)
        %2 = "ttnn.reshape"(%1) <{shape = [1 : i32, 4096 : i32, 4096 : i32]}> : (tensor<4096x4096xbf16, #tiles>) -> tensor<1x4096x4096xbf16, #cube> loc(#loc2)
        "ttnn.deallocate"(%1) <{force = false}> : (tensor<4096x4096xbf16, #tiles>) -> () loc(#loc2)
        %3 = "ttnn.gelu"(%2) : (tensor<1x4096x4096xbf16, #cube>) -> tensor<1x4096x4096xbf16, #cube> loc(#loc3)
        "ttnn.deallocate"(%2) <{force = false}> : (tensor<1x4096x4096xbf16, #cube>) -> () loc(#loc3)
        %4 = "ttnn.to_memory_config"(%arg2) <{memory_config = #ttnn.memory_config<#ttnn.buffer_type<l1>, <block_sharded>>}> : (tensor<256x512xbf16, #small>) -> tensor<256x512xbf16, #l1> loc(#loc4)
        "ttnn.deallocate"(%4) <{force = false}> : (tensor<256x512xbf16, #l1>) -> () loc(#loc4)
        %5 = "ttnn.silu"(%3) : (tensor<1x4096x4096xbf16, #cube>) -> tensor<1x4096x4096xbf16, #cube> loc(#loc5)
        "ttnn.deallocate"(%3) <{force = false}> : (tensor<1x4096x4096xbf16, #cube>) -> () loc(#loc5)
        %6 = "ttnn.reshape"(%5) <{shape = [4096 : i32, 4096 : i32]}> : (tensor<1x4096x4096xbf16, #cube>) -> tensor<4096x4096xbf16, #tiles> loc(#loc6)
        "ttnn.deallocate"(%5) <{force = false}> : (tensor<1x4096x4096xbf16, #cube>) -> () loc(#loc6)
        return %6 : tensor<4096x4096xbf16, #tiles> loc(#loc)
      } loc(#loc)
    } loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("layers.0|dot.1")
#loc2 = loc("layers.0|reshape.2")
#loc3 = loc("layers.0|gelu.3")
#loc4 = loc("layers.0|mask.4")
#loc5 = loc("layers.0|silu.5")
#loc6 = loc("layers.0|reshape.6")
