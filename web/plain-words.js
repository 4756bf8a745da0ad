// @ts-check
/** Describes any tool's call in plain words, from its name and arguments alone. */

/** Verbs that add nothing to the description: a "set_timer" is a timer. */
const PLAIN_VERBS = new Set(["set", "get", "make", "create", "start", "show", "tell"]);

/** Arguments that are named before the thing: "two large lattes". */
const BEFORE = [
  "quantity",
  "count",
  "number",
  "amount",
  "size",
  "colour",
  "color",
  "roast",
  "kind",
];

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const UNITS = { second: "s", minute: "min", hour: "h" };
const TIME = new RegExp(
  `\\b(?:(${TENS.join("|")})(?:[ -]|\\b))?(${SMALL.join("|")}|an?)?\\s*\\b(second|minute|hour)s?\\b`,
  "g",
);
const LONGEST = 80;

/** @param {string} text @returns {string} */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {string} text @returns {string} Times in digits: "ten minutes" as "10 min". */
function short(text) {
  const told = text.replace(TIME, (all, tens, ones, unit) => {
    if (!tens && !ones) return all;
    const number =
      (TENS.indexOf(tens) + (tens ? 2 : 1)) * 10 +
      (ones?.startsWith("a") ? 1 : Math.max(0, SMALL.indexOf(ones)));
    return `${number} ${UNITS[/** @type {keyof typeof UNITS} */ (unit)]}`;
  });
  return told.length > LONGEST ? `${told.slice(0, LONGEST - 1)}…` : told;
}

/** @param {unknown} value @returns {string} */
function said(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return short(value.map(said).filter(Boolean).join(", "));
  return short(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** @param {string[]} all @returns {string} */
function listed(all) {
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

/**
 * "Timer · 10 min" or "Order: large latte with oat milk".
 *
 * If an argument has the name of the tool's object, its value takes the object's place.
 *
 * @param {string} name Such as "set_timer".
 * @param {Record<string, unknown>} given Its arguments.
 * @returns {string}
 */
export function inPlainWords(name, given) {
  const words = name.split(/[_\s.-]+/).filter(Boolean);
  const values = Object.entries(given).map(([key, value]) => ({ key, value: said(value) }));
  const told = values.filter(({ value }) => value !== "");
  const [verb, ...rest] = words;
  const about = rest.join(" ");
  const plain = rest.length > 0 && PLAIN_VERBS.has(verb);
  const thing = told.find(({ key }) => key === rest.join("_"));
  const others = told.filter((each) => each !== thing);
  if (!thing || plain) {
    const title = capital(thing?.value ?? (plain ? about : words.join(" ")));
    return [title, ...others.map(({ value }) => value)].join(" · ");
  }
  const before = BEFORE.flatMap((key) => others.filter((each) => each.key === key));
  const behind = others.filter((each) => !before.includes(each)).map(({ value }) => value);
  const whole = [...before.map(({ value }) => value), thing.value].join(" ");
  return `${capital(verb)}: ${whole}${behind.length > 0 ? ` with ${listed(behind)}` : ""}`;
}
