extension TestOrigin {
    /// Sets the resource at a path, replacing an existing one.
    ///
    /// Later requests get the new one; responses that are under way continue with the old one. With other content or
    /// another entity tag it is a new representation, whose bytes count as not sent yet.
    ///
    /// The path begins with a slash. If it has a query, it serves that query only.
    public func set(_ resource: Resource, at path: String) {
        precondition(path.hasPrefix("/"), "A path begins with a slash.")
        switch resource.content {
        case .pattern(_, let length), .headedPattern(_, _, let length):
            precondition(length >= 0, "A length is not negative.")
        case .bytes, .file: break
        }
        state.update { $0.set(resource, at: path) }
    }

    /// Removes the resource at a path; later requests get 404.
    public func removeResource(at path: String) {
        state.update { $0.removeResource(at: path) }
    }
}
