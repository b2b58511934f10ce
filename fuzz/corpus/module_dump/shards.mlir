#loc = loc(unknown)
#loc3 = loc("p0, [1]")
#system_desc = #ttcore.system_desc<[{role = host}], [{arch = <wormhole_b0>, noc_dram_address_align_bytes = 32}]>
module @Graph.1 attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>} {
  ttcore.device_module {
    builtin.module @Graph.1 {
      func.func private @main_const_eval_0(%arg0: tensor<8xbf16, #l> loc(unknown)) -> tensor<8xbf16> {
        return %arg0 : tensor<8xbf16> loc(#loc)
      } loc(#loc)
      func.func @main(%arg0: tensor<8x4xbf16, #l> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"_axis_0"}]>, ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.local_shape = #ttcore<local_shape local_shape = tensor<8x2xbf16>>, ttcore.shard_status = #ttcore.shard_status<presharded>, ttir.name = "w\22x"} loc("p0, [1]"),
          %arg1: tensor<4xi32> {mhlo.sharding = "{devices=[2,1]<=[2]}", ttcore.kv_cache, ttcore.runtime_tensor_sharding = #ttcore<runtime_tensor_sharding shard_status = <unsharded>, local_shape = tensor<2xi32>>}) -> tensor<8xbf16> {
        %0 = ttcore.load_cached(@main_const_eval_0, [%arg0]) : (tensor<8xbf16>) -> tensor<8xbf16> loc(#loc)
        %1 = "ttnn.add"(%0, %0) : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16> loc(#loc4)
        %2 = "ttnn.add"(%1, %0) : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16> loc(fused[#loc4, "b"])
        return %2 : tensor<8xbf16> loc(#loc)
      } loc(#loc)
    } loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc4 = loc("add.1"(#loc5))
#loc5 = loc(fused<"meta">[#loc3, #loc6])
#loc6 = loc(callsite(#loc3 at "x.py":1:2))
