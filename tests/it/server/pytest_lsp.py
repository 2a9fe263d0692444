"""Checks the server with pytest-lsp: its client validates every message against the types of the specification, and
responds to requests from the server as editors do."""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

ROOT = pathlib.Path(__file__).resolve().parent
RULE = "visibility-timeout-below-function-timeout"


def uri(name):
    return (ROOT / name).as_uri()


@pytest_lsp.fixture(
    params=["neovim", "visual-studio-code", "emacs"],
    config=ClientServerConfig(server_command=[os.environ["SQSLINT"], "server"]),
)
async def client(request, lsp_client: LanguageClient):
    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams):
        assert all(one.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES for one in params.registrations)

    capabilities = client_capabilities(request.param)
    folder = types.WorkspaceFolder(uri=ROOT.as_uri(), name="root")
    result = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, workspace_folders=[folder], root_uri=ROOT.as_uri())
    )
    assert result.server_info.name == "sqslint"
    yield
    await lsp_client.shutdown_session()


def open_file(client, name, text=None):
    text = text if text is not None else (ROOT / name).read_text()
    item = types.TextDocumentItem(uri=uri(name), language_id="terraform", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))


async def until(client, holds):
    while not holds():
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


@pytest.mark.asyncio
async def test_a_session(client: LanguageClient):
    open_file(client, "function.tf")
    change = types.TextDocumentContentChangePartial(
        range=types.Range(start=types.Position(1, 12), end=types.Position(1, 14)), text="400"
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=uri("function.tf"), version=2),
            content_changes=[change],
        )
    )

    def rules():
        return [found.code for found in client.diagnostics.get(uri("queues.tf"), [])]

    await until(client, lambda: RULE in rules())
    document = types.TextDocumentIdentifier(uri=uri("queues.tf"))
    place = types.Position(1, 4)
    hover = await client.text_document_hover_async(types.HoverParams(text_document=document, position=place))
    assert "visibility_timeout_seconds = 300 s" in hover.contents.value
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=document,
            range=types.Range(start=place, end=place),
            context=types.CodeActionContext(diagnostics=client.diagnostics[uri("queues.tf")]),
        )
    )
    assert any("unsafe fix" in action.title for action in actions)
    ends = await client.text_document_definition_async(
        types.DefinitionParams(text_document=types.TextDocumentIdentifier(uri=uri("function.tf")), position=types.Position(5, 40))
    )
    assert [end.uri for end in ends] == [uri("queues.tf")]
    references = await client.text_document_references_async(
        types.ReferenceParams(
            text_document=document, position=place, context=types.ReferenceContext(include_declaration=True)
        )
    )
    assert {end.uri for end in references} == {uri("queues.tf"), uri("function.tf")}
    items = await client.text_document_completion_async(types.CompletionParams(text_document=document, position=place))
    assert not items
