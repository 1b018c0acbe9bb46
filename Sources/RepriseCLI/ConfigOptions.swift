import ArgumentParser

/// Which configuration file counts.
struct ConfigOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File with settings, as `reprise config` prints them. (\(Settings.variable); default: none)",
            valueName: "file"))
    var config: String?

    func validate() throws {
        if config?.isEmpty == true { throw ValidationError("--config is empty; name a configuration file.") }
    }

    /// What is in force.
    func settings() throws -> Settings { try Settings.ofProcess(option: config) }
}
