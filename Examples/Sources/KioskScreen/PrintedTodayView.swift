/// The view: lines on standard output.
final class PrintedTodayView: TodayView {
    private var printed = ""

    func show(_ answer: [String], today: String) {
        let line = (answer + [today]).joined(separator: " · ")
        if line != printed { print(line) }
        printed = line
    }
}
