-- A real editor with the language server: Neovim's built-in client opens every example, and must show exactly what the terminal prints.
-- Run: nvim --headless --clean -l tests/editor.lua (or, before 0.9, nvim --headless --clean -c "luafile tests/editor.lua") from the
-- root of the checkout, with LGM naming the program.

local lgm = os.getenv("LGM") or "target/debug/lgm"
local failures = {}
local count = 0

local function check(holds, words)
  count = count + 1
  if not holds then
    table.insert(failures, words)
  end
end

-- The last diagnostics of each file, as the protocol carries them.
local published = {}

local function start(root)
  return vim.lsp.start_client({
    name = "lgm",
    cmd = { vim.fn.fnamemodify(lgm, ":p"), "lsp" },
    root_dir = root,
    init_options = { codeLinks = true },
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    handlers = {
      ["textDocument/publishDiagnostics"] = function(_, result)
        published[result.uri] = result.diagnostics
      end,
    },
  })
end

local function open(client, path)
  vim.cmd("edit! " .. vim.fn.fnameescape(path))
  local buffer = vim.api.nvim_get_current_buf()
  local uri = vim.uri_from_bufnr(buffer)
  -- A buffer that the client has already is read again; its text is the same, and so are its diagnostics.
  if vim.lsp.buf_is_attached(buffer, client) then
    return buffer, uri
  end
  published[uri] = nil
  vim.lsp.buf_attach_client(buffer, client)
  vim.wait(60000, function()
    return published[uri] ~= nil
  end, 5)
  check(published[uri] ~= nil, path .. ": no diagnostics were published")
  return buffer, uri
end

local function ask(buffer, method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000) or {}
  for _, answer in pairs(answers) do
    if answer.err then
      return nil, answer.err.message
    end
    return answer.result
  end
  return nil, "no answer"
end

-- What the terminal says of a file: a line for each diagnostic of the file itself.
local function of_terminal(path)
  local text = vim.fn.system({ lgm, "check", "--format", "json", path })
  local lines = {}
  for _, found in ipairs(vim.fn.json_decode(text).diagnostics) do
    if found.file ~= vim.NIL and found.file == path then
      table.insert(lines, string.format("%s %d:%d %s", found.code, found.line, found.column, found.severity))
    end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

local severities = { "error", "warning", "information", "hint" }

local function of_editor(list)
  local lines = {}
  for _, found in ipairs(list) do
    local at = found.range.start
    -- Hints are the editor's alone.
    if found.severity ~= 4 then
      local line = string.format("%s %d:%d %s", found.code, at.line + 1, at.character + 1, severities[found.severity])
      table.insert(lines, line)
    end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

local function place(buffer, words, offset)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(words, 1, true)
    if column then
      return { line = number - 1, character = column - 1 + (offset or 0) }
    end
  end
  error("no line holds " .. words)
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function examples(client)
  for _, folder in ipairs({ "examples", "examples/seeds" }) do
    for _, path in ipairs(vim.fn.glob(folder .. "/*.lgm", false, true)) do
      local _, uri = open(client, path)
      local terminal, editor = of_terminal(path), of_editor(published[uri] or {})
      check(terminal == editor, path .. "\n-- terminal\n" .. terminal .. "\n-- editor\n" .. editor)
    end
  end
end

local function library(client)
  local buffer, uri = open(client, "examples/oscillator.lgm")
  local params = { textDocument = { uri = uri }, position = place(buffer, ": Mass(", 3) }
  local answer, fault = ask(buffer, "textDocument/definition", params)
  local target = answer and (answer.uri or answer.targetUri or (answer[1] and (answer[1].uri or answer[1].targetUri)))
  check(target ~= nil and target:find("stdlib/translational.lgm", 1, true) ~= nil, "definition: " .. vim.inspect(answer or fault))
  local hover = ask(buffer, "textDocument/hover", { textDocument = { uri = uri }, position = place(buffer, "spring :", 1) })
  local words = hover and hover.contents and hover.contents.value or ""
  check(words:find("der(spring.F)", 1, true) ~= nil, "hover: " .. vim.inspect(hover))
end

local function two_files(client, folder)
  write(folder .. "/part.lgm", "component Cell(R) {\n  port p, n : electrical;\n  r : Resistor(R) p -> n;\n}\n")
  local text = 'import "part.lgm";\nmodel M {\n  node a : electrical;\n  src : VoltageSource(1) a -> gnd;\n'
    .. "  c : Cell(2) (p = a, n = gnd);\n  output i = through(c.r);\n}\n"
  write(folder .. "/main.lgm", text)
  local buffer, uri = open(client, folder .. "/main.lgm")
  local position = place(buffer, "Cell(2)", 1)
  local edit, fault = ask(buffer, "textDocument/rename", { textDocument = { uri = uri }, position = position, newName = "Leak" })
  check(edit ~= nil, "rename: " .. tostring(fault))
  if edit then
    vim.lsp.util.apply_workspace_edit(edit, "utf-16")
    local here = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    local other = vim.fn.bufadd(folder .. "/part.lgm")
    vim.fn.bufload(other)
    local there = table.concat(vim.api.nvim_buf_get_lines(other, 0, -1, false), "\n")
    check(here:find("c : Leak(2)", 1, true) ~= nil, "rename here:\n" .. here)
    check(there:find("component Leak(R)", 1, true) ~= nil, "rename there:\n" .. there)
  end
end

local function mend_and_format(client, folder)
  local path = folder .. "/faulty.lgm"
  write(path, "model M {\nnode x : translational;\n mass : Mass(2) x -> gnd;\nspring : Sprign(3)   x -> gnd;\n}\n")
  local buffer, uri = open(client, path)
  local list = published[uri] or {}
  check(#list == 1 and list[1].code == "LGM0149", "a misspelt name: " .. vim.inspect(list))
  if #list == 0 then
    return
  end
  local page = vim.tbl_get(list[1], "codeDescription", "href")
  check(page == "lgm-library:/docs/codes/LGM0149.md", "the page of a code: " .. vim.inspect(page))
  local answer = page and ask(buffer, "lgm/libraryText", { uri = page })
  check(answer ~= nil and answer.text:find("# LGM0149", 1, true) == 1, "the page of a code: " .. vim.inspect(answer))
  local actions = ask(buffer, "textDocument/codeAction", {
    textDocument = { uri = uri },
    range = list[1].range,
    context = { diagnostics = { list[1] } },
  })
  local action = actions and actions[1]
  check(action ~= nil and action.title == "write `Spring`", "action: " .. vim.inspect(actions))
  if not (action and action.edit) then
    return
  end
  published[uri] = nil
  vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  vim.wait(60000, function()
    return published[uri] ~= nil
  end, 5)
  check(published[uri] ~= nil and #published[uri] == 0, "after the mend: " .. vim.inspect(published[uri]))
  local edits = ask(buffer, "textDocument/formatting", {
    textDocument = { uri = uri },
    options = { tabSize = 2, insertSpaces = true },
  })
  vim.lsp.util.apply_text_edits(edits or {}, buffer, "utf-16")
  vim.cmd("silent write!")
  local formatted = table.concat(vim.fn.readfile(path), "\n")
  vim.fn.system({ lgm, "fmt", path })
  check(formatted == table.concat(vim.fn.readfile(path), "\n"), "formatted:\n" .. formatted)
  check(formatted:find("  spring : Spring(3) x -> gnd;", 1, true) ~= nil, "formatted:\n" .. formatted)
end

-- The parser of the tree-sitter grammar, compiled as an editor compiles it, reads every example without a fault, and the queries are
-- ones that an editor takes.
local function tree_sitter(folder)
  local parts = "editors/tree-sitter-lgm"
  local library = folder .. "/lgm.so"
  local said = vim.fn.system({ "cc", "-shared", "-fPIC", "-O1", "-I", parts .. "/src", "-o", library, parts .. "/src/parser.c" })
  check(vim.v.shell_error == 0, "parser.c: " .. said)
  local language = vim.treesitter.language
  if language.add then
    language.add("lgm", { path = library })
  else
    language.require_language("lgm", library)
  end
  local parse_query = vim.treesitter.query.parse or vim.treesitter.query.parse_query or vim.treesitter.parse_query
  for _, query in ipairs({ "highlights", "folds", "locals", "injections", "indents" }) do
    local text = table.concat(vim.fn.readfile(parts .. "/queries/" .. query .. ".scm"), "\n")
    local fine, found = pcall(parse_query, "lgm", text)
    check(fine, query .. ".scm: " .. tostring(found))
    if fine and query == "highlights" then
      local read = table.concat(vim.fn.readfile("examples/oscillator.lgm"), "\n")
      local root = vim.treesitter.get_string_parser(read, "lgm"):parse()[1]:root()
      local count = 0
      for _ in found:iter_captures(root, read, 0, -1) do
        count = count + 1
      end
      check(count > 50, "highlights of the oscillator: " .. count)
    end
  end
  for _, path in ipairs(vim.fn.glob("examples/*.lgm", false, true)) do
    local read = table.concat(vim.fn.readfile(path), "\n") .. "\n"
    local root = vim.treesitter.get_string_parser(read, "lgm"):parse()[1]:root()
    check(not root:has_error(), path .. ": the tree-sitter parser finds a fault")
  end
end

local function run()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  local client = start(vim.fn.getcwd())
  examples(client)
  library(client)
  local other = start(folder)
  two_files(other, folder)
  mend_and_format(other, folder)
  tree_sitter(folder)
end

vim.o.hidden = true
vim.o.swapfile = false
local fine, fault = xpcall(run, debug.traceback)
check(fine, tostring(fault))
for _, words in ipairs(failures) do
  io.stderr:write("FAILED " .. words .. "\n")
end
io.stdout:write(string.format("%d checks, %d failed\n", count, #failures))
vim.cmd(#failures == 0 and "qall!" or "cquit!")
