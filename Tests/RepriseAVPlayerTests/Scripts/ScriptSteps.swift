/// An expectation of a script that does not hold.
struct ScriptFailure: Error, CustomStringConvertible {
    let description: String
}

/// Performs the steps of scenarios of one kind.
protocol ScriptSteps: AnyObject {
    /// The step that is performed, for messages.
    var place: String { get set }

    /// Performs a step that is none of structure; takes all of its fields.
    ///
    /// Throws ``ScriptFormatError`` for what cannot be read, and ``ScriptFailure`` for what does not hold.
    func perform(_ op: String, _ fields: ScriptFields) async throws
}

extension ScriptSteps {
    func run(_ steps: [ScriptValue], in place: String) async throws {
        for (index, step) in steps.enumerated() { try await run(step, in: "\(place), step \(index + 1)") }
    }

    func fail(_ message: String) -> ScriptFailure { ScriptFailure(description: "\(place): \(message)") }

    private func run(_ step: ScriptValue, in outer: String) async throws {
        var fields = try ScriptFields(step, outer)
        let op = try fields.require(fields.text("op"), "op")
        place = "\(outer) (\(op))"
        fields = try ScriptFields(step, place)
        _ = fields.value("op")
        switch op {
        case "repeat": try await runRepeat(fields)
        case "either": try await runEither(fields)
        case "note": return
        default: try await perform(op, fields)
        }
    }

    private func runRepeat(_ given: ScriptFields) async throws {
        var fields = given
        let times = try fields.require(fields.int("times"), "times")
        let name = try fields.text("var") ?? "k"
        let steps = try fields.require(fields.list("steps"), "steps")
        try fields.finish()
        let outer = place
        for k in 0..<times {
            let round: [ScriptValue]
            do { round = try steps.map { try $0.substituting([name: k]) } } catch let error as ScriptFormatError {
                throw ScriptFormatError("\(outer): \(error)")
            }
            try await run(round, in: "\(outer) \(name)=\(k)")
        }
    }

    private func runEither(_ given: ScriptFields) async throws {
        var fields = given
        let options = try fields.require(fields.list("options"), "options")
        try fields.finish()
        let outer = place
        var failures: [String] = []
        for option in options {
            guard case .list(let steps) = option else { throw ScriptFormatError("\(outer): an option is a list") }
            do { return try await run(steps, in: outer) } catch let failure as ScriptFailure {
                failures.append(failure.description)
            }
        }
        throw ScriptFailure(description: "\(outer): none holds: \(failures.joined(separator: "; or "))")
    }
}
