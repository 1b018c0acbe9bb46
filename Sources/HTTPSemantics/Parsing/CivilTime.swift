/// A date and time of the proleptic Gregorian calendar in UTC, converted by arithmetic alone.
struct CivilTime {
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    var year: Int
    /// 1 to 12.
    var month: Int
    /// 1 to 31.
    var day: Int
    var hour: Int
    var minute: Int
    /// 0 to 60.
    var second: Int

    init(year: Int, month: Int, day: Int, time: (hour: Int, minute: Int, second: Int)) {
        (self.year, self.month, self.day) = (year, month, day)
        (hour, minute, second) = time
    }

    /// The calendar fields of a moment within the years that `HTTPDate` allows.
    ///
    /// Days are counted from 0000-03-01, so that a leap day is the last of its year; 400 years are 146,097 days.
    init(secondsSince1970: Int64) {
        let (quotient, remainder) = Int(secondsSince1970).quotientAndRemainder(dividingBy: 86_400)
        let (days, secondOfDay) = remainder < 0 ? (quotient - 1, remainder + 86_400) : (quotient, remainder)
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60)
    }

    /// 0 for Sunday.
    var weekday: Int {
        let days = daysSince1970 + 4
        return (days % 7 + 7) % 7
    }

    /// The moment, or `nil` if a field is out of its bounds.
    var secondsSince1970: Int64? {
        guard 0...9_999 ~= year, 1...12 ~= month, 1...daysInMonth ~= day, 0...23 ~= hour, 0...59 ~= minute,
            0...60 ~= second
        else { return nil }
        return Int64(daysSince1970) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// Whether this moment precedes `other` if both are placed in the same year.
    func precedesWithinYear(_ other: CivilTime) -> Bool {
        [month, day, hour, minute, second]
            .lexicographicallyPrecedes([other.month, other.day, other.hour, other.minute, other.second])
    }

    private var isLeapYear: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private var daysInMonth: Int {
        switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
