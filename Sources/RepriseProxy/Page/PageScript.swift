/// The script of the page, which keeps it up to date and acts.
///
/// What comes from outside becomes text and attributes only; the policy of the page forbids to parse it as HTML.
enum PageScript {
    /// The script in the order in which it runs.
    private static let pieces = [start, words, elements, numbers, peers, activity, titles, actions, news]

    /// What stands between the tags of `script`.
    static var text: String { pieces.map { $0.description + "\n" }.joined() }

    /// Adds the script.
    static func write(to page: inout Markup) {
        for piece in pieces {
            page.tags(piece)
            page.tags("\n")
        }
    }

    /// Where it runs, and what the server lets it do.
    private static let start: StaticString = #"""
        "use strict";
        (() => {
        const root = location.pathname.replace(/\/*$/, "/");
        const can = new Set(document.body.dataset.operations.split(" "));
        // The keys of the server's own rule.
        const names = { dropQueryItem: [] };
        const byId = id => document.getElementById(id);
        """#
}
