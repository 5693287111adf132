[
  (block)
  (domain)
  (experiment)
  (block_comment)
] @fold
