//! A page about every diagnostic code: what it says, why, and how to mend it, with an example of each.
//!
//! The pages are the Markdown files of `docs/codes`, held by the program, so that `lgm explain` needs no files. A test
//! compares the list here with the codes that the source uses, both ways, and runs every example.

/// The page about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code, such as `LGM0301`.
    pub code: &'static str,
    /// The whole page, in Markdown.
    pub text: &'static str,
}

impl Page {
    /// The words behind the code in the page's first line.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().next().unwrap_or("");
        line.split_once(": ").map_or("", |parts| parts.1)
    }

    /// The number in the code.
    fn number(&self) -> u32 {
        number_of(self.code).expect("invariant: a code is `LGM` and four digits")
    }
}

/// Embeds one page for each code named.
macro_rules! pages {
    ($($code:ident)*) => {
        /// Every page, in the order of the codes.
        pub const PAGES: &[Page] = &[$(Page {
            code: stringify!($code),
            text: include_str!(concat!("../../../docs/codes/", stringify!($code), ".md")),
        }),*];
    };
}

pages! {
    LGM0001 LGM0002 LGM0003 LGM0004 LGM0005 LGM0006 LGM0007 LGM0010 LGM0020 LGM0021 LGM0022
    LGM0023 LGM0024 LGM0025 LGM0026 LGM0030 LGM0031 LGM0032 LGM0033 LGM0034 LGM0035
    LGM0036 LGM0037 LGM0038 LGM0039 LGM0040 LGM0041 LGM0042 LGM0043 LGM0044 LGM0045
    LGM0046 LGM0047 LGM0048 LGM0049 LGM0050 LGM0051 LGM0052 LGM0101 LGM0102 LGM0103
    LGM0104 LGM0105 LGM0106 LGM0107 LGM0110 LGM0111 LGM0112 LGM0113 LGM0114 LGM0115
    LGM0116 LGM0117 LGM0118 LGM0119 LGM0120 LGM0121 LGM0122 LGM0123 LGM0124 LGM0125
    LGM0126 LGM0127 LGM0128 LGM0129 LGM0130 LGM0131 LGM0132 LGM0133 LGM0134 LGM0135
    LGM0136 LGM0137 LGM0138 LGM0139 LGM0140 LGM0141 LGM0142 LGM0143 LGM0144 LGM0145
    LGM0146 LGM0147 LGM0148 LGM0149 LGM0150 LGM0151 LGM0152 LGM0153 LGM0154 LGM0155 LGM0201 LGM0202
    LGM0203 LGM0204 LGM0205 LGM0206 LGM0207 LGM0208 LGM0209 LGM0301 LGM0302 LGM0303 LGM0304
    LGM0305 LGM0306 LGM0307 LGM0308 LGM0309 LGM0310 LGM0311 LGM0312 LGM0313 LGM0314
    LGM0315 LGM0316 LGM0317 LGM0321 LGM0322 LGM0401 LGM0402 LGM0403 LGM0404 LGM0405 LGM0406
    LGM0407 LGM0408 LGM0409 LGM0410 LGM0411 LGM0412 LGM0413 LGM0420 LGM0421 LGM0422 LGM0423
    LGM0424 LGM0425 LGM0426 LGM0427 LGM0428 LGM0429 LGM0430 LGM0431 LGM0432 LGM0433 LGM0434
    LGM0435 LGM0438 LGM0439
    LGM0440 LGM0441 LGM0442 LGM0443 LGM0444 LGM0445 LGM0446 LGM0447 LGM0448 LGM0501 LGM0502 LGM0503
    LGM0504 LGM0505 LGM0506 LGM0603 LGM0606 LGM0701 LGM0702 LGM0703 LGM0704 LGM0705
    LGM0706 LGM0707 LGM0711 LGM0712 LGM0713 LGM0714 LGM0801 LGM0802
    LGM0803 LGM0804 LGM0805 LGM0806 LGM0807 LGM0808 LGM0809 LGM0810 LGM0811 LGM0812
    LGM0813 LGM0901 LGM0902 LGM0903 LGM0904 LGM0905 LGM0906 LGM0907 LGM0908 LGM0909 LGM0910
    LGM0911 LGM0912 LGM0913 LGM0920 LGM0921 LGM0922 LGM0923 LGM0924 LGM0925 LGM0926 LGM0927
    LGM0928 LGM0929 LGM0930 LGM0932 LGM0933 LGM0935 LGM0936 LGM0937
    LGM1001 LGM1002 LGM1003 LGM1004 LGM1005 LGM1006 LGM1007 LGM1008 LGM1009 LGM1010 LGM1021
    LGM1022 LGM1023 LGM1024 LGM1031 LGM1032
}

/// The number that a person means by `LGM0301`, `lgm0301`, `0301` or `301`.
fn number_of(written: &str) -> Option<u32> {
    let digits = match written.get(..3) {
        Some(letters) if letters.eq_ignore_ascii_case("lgm") => &written[3..],
        _ => written,
    };
    let plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// The page that is asked for, however its code is written.
pub fn page(written: &str) -> Option<&'static Page> {
    let number = number_of(written.trim())?;
    PAGES.iter().find(|page| page.number() == number)
}

/// The pages whose codes lie nearest to one that does not exist, at most three, in their order; none where what is
/// written is no code at all.
pub fn nearest(written: &str) -> Vec<&'static Page> {
    let Some(number) = number_of(written.trim()) else {
        return Vec::new();
    };
    let mut list: Vec<&Page> = PAGES.iter().collect();
    list.sort_by_key(|page| (page.number().abs_diff(number), page.number()));
    list.truncate(3);
    list.sort_by_key(|page| page.number());
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_be_written_in_several_ways() {
        for written in ["LGM0301", "lgm0301", "Lgm301", "0301", "301", " 301 "] {
            assert_eq!(page(written).map(|page| page.code), Some("LGM0301"), "{written}");
        }
        for written in [
            "", "LGM", "LGM 301", "LGM00301", "E0301", "+301", "-301", "µ301", "9999",
        ] {
            assert_eq!(page(written), None, "{written}");
        }
    }

    #[test]
    fn the_nearest_codes_are_those_with_the_nearest_numbers() {
        let codes = |written| nearest(written).iter().map(|page| page.code).collect::<Vec<_>>();
        assert_eq!(codes("0"), ["LGM0001", "LGM0002", "LGM0003"]);
        assert_eq!(codes("LGM0300"), ["LGM0301", "LGM0302", "LGM0303"]);
        assert!(codes("voltage").is_empty());
    }

    #[test]
    fn a_title_is_what_follows_the_code() {
        let page = Page {
            code: "LGM0001",
            text: "# LGM0001: a comment that never ends: `/*`\n\n## What\n",
        };
        assert_eq!(page.title(), "a comment that never ends: `/*`");
    }
}
