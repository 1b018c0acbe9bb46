import Reprise

/// Chooses bodies as another filter does, and has them noted as that one does, but sends them as the origin sent them:
/// to another server, which edits them for its own clients.
struct NotingFilter: BodyFilter {
    let filter: any BodyFilter

    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        filter.editor(of: information, at: url).map(NotingEditor.init)
    }

    private struct NotingEditor: BodyEditor {
        let editor: any BodyEditor

        var maximumLength: Int { editor.maximumLength }
        var looksFirst: Bool { editor.looksFirst }

        func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool? {
            editor.accepts(beginning, of: information)
        }

        func edit(_ body: GatheredBody) async throws -> [UInt8]? {
            // What a playlist lists is known from here on; the text for a player of this server is not needed.
            _ = try await editor.edit(body)
            return nil
        }
    }
}
