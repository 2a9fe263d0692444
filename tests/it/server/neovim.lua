-- Opens two files of a module in Neovim: a timeout is typed in one, and the queue in the other gets a diagnostic, a hover
-- text and a fix. Compatible with Neovim 0.7, the oldest version in current distributions.

local function say(text) io.stdout:write(text .. "\n") end

local function fail(text)
  say(text)
  vim.cmd("cquit 1")
end

local function wait(what, holds)
  if not vim.wait(60000, holds, 20) then fail("nothing came of: " .. what) end
end

local function run()
  local root = vim.fn.getcwd()
  local id = vim.lsp.start_client({ name = "sqslint", cmd = { vim.env.SQSLINT, "server" }, root_dir = root })
  local client = vim.lsp.get_client_by_id(id)
  wait("the handshake", function() return client.initialized end)
  local buffers = {}
  for _, name in ipairs({ "queues.tf", "function.tf" }) do
    local buffer = vim.fn.bufadd(root .. "/" .. name)
    vim.fn.bufload(buffer)
    vim.api.nvim_buf_set_option(buffer, "filetype", "terraform")
    vim.lsp.buf_attach_client(buffer, id)
    buffers[name] = buffer
  end
  local function has(name, rule)
    for _, found in ipairs(vim.diagnostic.get(buffers[name])) do
      if found.code == rule or (found.user_data and found.user_data.lsp and found.user_data.lsp.code == rule) then
        return true
      end
    end
    return false
  end
  local rule = "visibility-timeout-below-function-timeout"
  wait("the first findings", function() return has("function.tf", "batch-item-failures-unreported") end)
  if has("queues.tf", rule) then fail("marked before anything is wrong") end
  vim.api.nvim_buf_set_lines(buffers["function.tf"], 1, 2, false, { "  timeout = 400" })
  wait("the queue is marked", function() return has("queues.tf", rule) end)
  say("queues.tf: " .. rule)
  say("function.tf: batch-item-failures-unreported")

  local function ask(name, method, line, column, more)
    local params = {
      textDocument = { uri = vim.uri_from_bufnr(buffers[name]) },
      position = { line = line, character = column },
    }
    local answer, failure = client.request_sync(method, vim.tbl_extend("force", params, more or {}), 60000, buffers[name])
    if not answer or answer.err then fail(method .. ": " .. vim.inspect(failure or answer.err)) end
    return answer.result
  end
  local hover = ask("queues.tf", "textDocument/hover", 1, 5)
  say("hover: " .. hover.contents.value:match("visibility_timeout_seconds = %d+ s"))
  local target = ask("function.tf", "textDocument/definition", 5, 40)[1]
  say("definition: " .. target.uri:match("[^/]+$") .. ":" .. target.range.start.line + 1)

  local at = { line = 1, character = 0 }
  local actions = ask("queues.tf", "textDocument/codeAction", 1, 0, {
    range = { start = at, ["end"] = at },
    context = { diagnostics = {} },
  })
  local fix
  for _, action in ipairs(actions) do
    if action.title:find("unsafe fix", 1, true) then fix = fix or action end
  end
  vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding)
  say("fixed: " .. vim.trim(vim.api.nvim_buf_get_lines(buffers["queues.tf"], 1, 2, false)[1]))
  wait("the finding is gone", function() return not has("queues.tf", rule) end)
  say("done")
  vim.cmd("qall!")
end

local ok, failure = pcall(run)
if not ok then fail(tostring(failure)) end
