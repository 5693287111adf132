((documentation) @injection.content
  (#offset! @injection.content 0 3 0 0)
  (#set! injection.language "markdown")
  (#set! injection.combined))

([
  (line_comment)
  (block_comment)
] @injection.content
  (#set! injection.language "comment"))
