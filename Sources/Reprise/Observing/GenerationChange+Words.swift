import HTTPSemantics

extension GenerationChange {
    /// What the response showed, for people.
    var words: String {
        switch self {
        case .noGeneration: "Nothing was stored."
        case .validatorChanged: "The file has another entity tag or modification date."
        case .lengthChanged: "The file has another length."
        case .noStrongValidator:
            "No strong entity tag or modification date shows that missing bytes would be of the same file."
        case .hostChanged: "Another host answered, and no strong entity tag shows that it has the same file."
        case .preconditionFailed: "The origin says that the file has changed (412)."
        }
    }
}
