/// What a step of an HLS player must come to: `result` is `ok`, `end`, `stalled` or `error`, with a `code`.
struct ExpectedOutcome {
    enum Result: Equatable {
        case played
        /// The player still waited when its patience ended.
        case stalled
        case failed(Int)
    }

    private enum Wanted: String { case ok, end, stalled, error }

    private let wanted: Wanted
    private let code: Int64?

    init(_ fields: inout ScriptFields) throws {
        let text = try fields.text("result") ?? "ok"
        code = try fields.int("code")
        guard let wanted = Wanted(rawValue: text) else {
            throw ScriptFormatError(
                "\(fields.place): \"result\" must be \"ok\", \"end\", \"stalled\" or \"error\"")
        }
        self.wanted = wanted
    }

    /// Whether the stream may end before the time is over.
    var mayEnd: Bool { wanted == .end }

    /// What is wrong with `result`; `nil` if nothing is.
    func objection(to result: Result) -> String? {
        switch (wanted, result) {
        case (.ok, .played), (.end, .played), (.stalled, .stalled): return nil
        case (.error, .failed(let number)):
            return code.map { Int64(number) == $0 } ?? true ? nil : "the item failed with \(number)"
        case (_, .failed(let number)): return "the item failed with \(number)"
        case (_, .stalled): return "the player still waits"
        case (_, .played): return "the item plays"
        }
    }
}
