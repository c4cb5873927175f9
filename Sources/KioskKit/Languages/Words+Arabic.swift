import ClubKit

extension Words {
    static func arabic(_ key: Key) -> Phrase {
        switch key {
        case .holdCard: "يرجى تقريب البطاقة أو الهاتف هنا"
        case .place: "موضع القارئ: {place}"
        case .idle: "جاهزون لقراءة بطاقتك أو هاتفك"
        case .join: "انضم إلينا: {address}"
        case .reading: "جارٍ القراءة… يرجى الثبات"
        case .holdLonger: "يرجى إبقاؤها مدة أطول قليلاً"
        case .welcome: "أهلاً وسهلاً"
        case .welcomeName: "أهلاً وسهلاً، {name}"
        case .firstVisit: "هذه زيارتك الأولى. سعداء بوجودك معنا!"
        case .visitNumber: "الزيارة رقم {number}"
        case .milestone: "هذه زيارتك رقم {number}. تهانينا!"
        case .birthday: "عيد ميلاد سعيد!"
        case .birthdayName: "عيد ميلاد سعيد، {name}!"
        case .alreadyCounted: "تم التسجيل مسبقاً"
        case .alreadyCountedNote: "لقد سُجّلت زيارتك من قبل."
        case .notRecognised: "لم يتم التعرف على البطاقة"
        case .visitsLeft:
            [
                .zero: "لم تتبقَّ أي زيارة", .one: "بقيت زيارة واحدة", .two: "بقيت زيارتان",
                .few: "بقيت {count} زيارات", .many: "بقيت {count} زيارة", .other: "بقيت {count} زيارة",
            ]
        case .membershipEnds: "تنتهي عضويتك في {date}"
        case .stampsLeft:
            [
                .zero: "اكتملت الزيارات للحصول على: {reward}", .one: "زيارة واحدة أخرى للحصول على: {reward}",
                .two: "زيارتان أخريان للحصول على: {reward}", .few: "{count} زيارات أخرى للحصول على: {reward}",
                .many: "{count} زيارة أخرى للحصول على: {reward}", .other: "{count} زيارة أخرى للحصول على: {reward}",
            ]
        case .announcement: "إعلان"
        case .outOfOrder: "هذا القارئ خارج الخدمة"
        case .askAtDesk: "يرجى مراجعة الاستقبال."
        case .cannotRecord: "يتعذر تسجيل الزيارات حالياً"
        case .maintenance: "هذا الجهاز قيد الصيانة"
        case .noReader: "للموظفين: لا يوجد قارئ متصل. يرجى توصيل قارئ."
        case .serviceLost: "للموظفين: خدمة القارئات (pcscd) لا تستجيب."
        case .readerStuck: "للموظفين: القارئ {reader} لا يستجيب. يرجى فصله ثم توصيله من جديد."
        case .clockWrong: "للموظفين: ساعة هذا الجهاز غير مضبوطة، وتشير إلى {date}. يرجى ضبطها."
        case .someone: "عضو"
        case .outcomeFirstVisit: "الزيارة الأولى"
        case .outcomeVisit: "زيارة"
        case .outcomeRepeat: "مسجّلة مسبقاً"
        case .outcomeIgnored: "لم تُحتسب"
        case .outcomeRefused: "مرفوضة"
        case .visitsToday:
            [
                .zero: "لا زيارات اليوم", .one: "زيارة واحدة اليوم", .two: "زيارتان اليوم",
                .few: "{count} زيارات اليوم", .many: "{count} زيارة اليوم", .other: "{count} زيارة اليوم",
            ]
        case .latestTaps: "آخر القراءات"
        case .tapsToday: "قراءات اليوم"
        case .connecting: "جارٍ الاتصال…"
        case .disconnected: "انقطع الاتصال بالجهاز. جارٍ إعادة المحاولة…"
        case .soundOn: "تشغيل الصوت"
        case .soundOff: "إيقاف الصوت"
        case .reason(let code): arabic(code).title
        case .advice(let code): arabic(code).advice
        }
    }

    private static func arabic(_ code: Receipt.Reason.Code) -> Reason {
        switch code {
        case .unknownCard: ("لم يتم التعرف على البطاقة", "للانضمام، يرجى مراجعة الاستقبال.")
        case .noIdentifier: ("تعذرت قراءة أي بيانات", "يرجى المحاولة مرة أخرى أو مراجعة الاستقبال.")
        case .invalidIdentifier: ("الرقم المسجّل على هذه البطاقة غير صالح", "يرجى مراجعة الاستقبال.")
        case .invalidTime: ("ساعة هذا الجهاز غير صحيحة", "يرجى مراجعة الاستقبال.")
        case .cardBlocked: ("هذه البطاقة موقوفة", "يرجى استخدام بطاقتك الجديدة أو مراجعة الاستقبال.")
        case .blocked: ("هذه العضوية موقوفة", "يرجى مراجعة الاستقبال.")
        case .expired: ("انتهت عضويتك", "لتجديدها، يرجى مراجعة الاستقبال.")
        case .noVisitsLeft: ("لم تتبقَّ أي زيارة", "للحصول على زيارات أخرى، يرجى مراجعة الاستقبال.")
        case .erased: ("تم حذف هذا السجل", "يرجى مراجعة الاستقبال.")
        case .maintenance: ("هذا الجهاز قيد الصيانة", "يرجى المحاولة لاحقاً أو مراجعة الاستقبال.")
        case .card(let problem):
            switch problem {
            case .cardRemoved: ("أُبعدت البطاقة مبكراً", "يرجى إبقاؤها على القارئ حتى صدور الإشارة.")
            case .readFailed: ("تعذرت قراءة البطاقة", "يرجى تقريبها أكثر مع تثبيتها.")
            case .phoneLocked: ("هاتفك مقفل", "يرجى فتح قفله وتقريبه هنا مرة أخرى.")
            case .phoneNeedsOwner: ("هاتفك ينتظر اختيارك", "اختر البطاقة ثم قرّب الهاتف هنا مرة أخرى.")
            case .tagCorrupt: ("هذه البطاقة تالفة", "يرجى مراجعة الاستقبال.")
            case .ndefMalformed: ("البيانات على هذه البطاقة تالفة", "يرجى مراجعة الاستقبال.")
            case .invalidPass: ("التصريح على هذه البطاقة غير صالح", "يرجى مراجعة الاستقبال.")
            case .passNotAccepted: ("تعذر التحقق من هذا التصريح", "يرجى مراجعة الاستقبال.")
            case .passReplayed: ("استُخدم هذا التصريح من قبل", "يرجى تقريب البطاقة أو الهاتف نفسه هنا.")
            case .passExpired: ("انتهت صلاحية هذا التصريح", "يرجى التحقق من ساعة الهاتف أو مراجعة الاستقبال.")
            case .passNotTrusted: ("هذه البطاقة لا تكفي هنا", "يرجى استخدام تصريحك.")
            case .noPass: ("لا يوجد تصريح على هاتفك", "يرجى إضافة تصريحك إلى المحفظة.")
            case .tagProtected: ("البيانات على هذه البطاقة مقفلة", "يرجى مراجعة الاستقبال.")
            case .tagUnsupported: ("هذا النوع من البطاقات غير مدعوم", "يرجى استخدام بطاقة أخرى.")
            case .invalidUID: ("ليس لهذه البطاقة رقم صالح", "يرجى استخدام بطاقة أخرى.")
            case .nonUniqueUID: ("رقم هذه البطاقة غير فريد", "يرجى استخدام بطاقة أخرى.")
            case .randomUID: ("رقم هذه البطاقة يتغير كل مرة", "يرجى استخدام بطاقة أخرى.")
            }
        }
    }
}
