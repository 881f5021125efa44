import fc from 'fast-check'
import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'

/** Texts in the formats that members have, and some that miss them. */
const FORMATTED = [
  ...['https://a.example/p?q=1', 'http://a.example', 'HTTPS://A.EXAMPLE/', 'http://localhost:8080/cb'],
  ...['https://a.example/#f', 'https://a.example/{x}', 'https://ä.example', 'https://eve@a.example'],
  ...[
    'https://*.a.example/',
    'https:a.example',
    'com.example.app:/cb',
    'myapp:/cb',
    'javascript:alert(1)',
    'urn:x:1',
  ],
  ...[
    'ada@a.example',
    'ada@ä.example',
    'ada@',
    '+41 79 111 22 33',
    '+41791112233;ext=5',
    '079 111 22 33',
    '+1',
  ],
  ...['203.0.113.7', '2001:db8::7', 'fe80::1%eth0', '0203.0.113.7'],
  ...['2026-01-31T12:00:00.1+01:00', '2026-01-31t12:00:00z', '2026-01-31T12:00Z', '2026-02-30T12:00:00Z'],
  ...['2026-12-31T23:59:60Z', '0000-01-01T00:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31'],
  ...[
    '2026',
    '0000',
    '0000-02-29',
    '2023-02-29',
    '2024-04-31',
    'Europe/Berlin',
    'Mars/Phobos',
    'de-AT',
    'de_AT',
  ],
  ...[
    'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    'client_01k7r3m8wxe4gbr5v2c9t6hznq',
    'user_91k7r3m8wxe4gbr5v2c9t6hznq',
  ],
  ...['#0a7c66', 'health', 'a--b', 'openid email', 'a  b', '!'],
]

/** Values of every JSON type. */
const VALUES: readonly unknown[] = [null, true, 0, 0.5, 1e21, [], ['x'], [null], {}, { x: 1 }, '', ' ', '1']

/** A text of this number of characters in the form of a URL, an e-mail address, or without one. */
const createTexts = (length: number): string[] => {
  const pad = (prefix: string, suffix = '') =>
    prefix + 'a'.repeat(Math.max(0, length - prefix.length - suffix.length)) + suffix
  return [pad(''), '\u{1f600}'.repeat(length), pad('https://a.example/')]
}

/** Texts that match a pattern, and the same with one more character. The seed is fixed. */
function matchPattern(pattern: string): string[] {
  // fast-check has no assertions but those of the start and the end.
  if (/\(\?[=!]|\\p/.test(pattern)) return []
  const texts = fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { numRuns: 3, seed: 7 })
  return texts.flatMap((text) => [text, `${text}\n`])
}

const listStrings = ({ minLength, maxLength, pattern, anyOf = [] }: JsonSchema): unknown[] => [
  ...(typeof minLength === 'number' ? [createTexts(minLength)[0]] : []),
  ...(typeof maxLength === 'number'
    ? createTexts(maxLength).concat(createTexts(maxLength + 1).slice(1))
    : []),
  ...[pattern, ...anyOf.map((option) => option.pattern)].flatMap((one) =>
    typeof one === 'string' ? matchPattern(one) : [],
  ),
]

const listNumbers = ({ minimum, maximum }: JsonSchema): unknown[] =>
  [minimum, maximum].flatMap((limit) =>
    typeof limit === 'number' ? [limit - 1, limit, limit + 1, limit + 0.5, `${limit}`] : [],
  )

/** Arrays about the limits, of an item that the schema allows. */
const listArrays = ({ items, minItems, maxItems }: JsonSchema): unknown[] => {
  const item = items?.enum?.[0] ?? items?.examples?.[0] ?? 'https://a.example'
  return [minItems, maxItems].flatMap((limit) =>
    typeof limit === 'number'
      ? [limit - 1, limit, limit + 1].map((size) => Array(Math.max(0, size)).fill(item))
      : [],
  )
}

const isText = ({ type, enum: values }: JsonSchema): boolean =>
  values === undefined && (type === undefined || [type].flat().includes('string'))

/** Generates values for a member: of every JSON type, and about each limit of its schema. */
export function generateValues(schema: JsonSchema): unknown[] {
  const values = [
    ...(schema.examples ?? []),
    ...(schema.enum ?? []).flatMap((value) =>
      typeof value === 'string' ? [value, `${value}x`, value.toUpperCase()] : [],
    ),
    ...listStrings(schema),
    ...listNumbers(schema),
    ...listArrays(schema),
    ...VALUES,
    ...(isText(schema) ? FORMATTED : []),
  ]
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
