import ArgumentParser

/// What `reprise help settings` prints: the options that commands share, from their own declarations.
struct SettingsHelp: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The options that commands share.",
        usage: "reprise COMMAND [OPTIONS]",
        discussion: """
            Each option whose help names a variable can also be given as that variable, or as a line NAME = VALUE of the \
            file that --config names. The options of the server: reprise help serve. What is in force: reprise config.
            """)

    /// The words after `reprise` that print it.
    static let arguments = ["help", "settings"]

    @OptionGroup(title: "All commands") var cache: CacheOptions
    @OptionGroup(title: "Storage and network (serve, play, fetch, download, pin)") var store: StoreOptions
    @OptionGroup(title: "Downloads (serve, fetch, download)") var pace: DownloadOptions
    @OptionGroup(title: "Logs (serve, play)") var log: LogOptions
}
