import type { TextFormat } from '../schema/formats.ts'

type FormatScalar = { name: string; description: string; url: string }

/** The scalar of each format. scalars.graphql.ts declares them. */
export const FORMAT_SCALARS = {
  email: {
    name: 'EmailAddress',
    description: 'An e-mail address.',
    url: 'https://www.rfc-editor.org/rfc/rfc5322#section-3.4.1',
  },
  phone: {
    name: 'E164PhoneNumber',
    description: 'A phone number with its country code. Input may be in any notation.',
    url: 'https://www.itu.int/rec/T-REC-E.164',
  },
  'any-phone': {
    name: 'PhoneNumber',
    description:
      'A phone number in E.164, an extension as ;ext=, or a number without its country code as it was given.',
    url: 'https://www.rfc-editor.org/rfc/rfc3966#section-3',
  },
  uri: {
    name: 'URL',
    description: 'An absolute URL in ASCII.',
    url: 'https://www.rfc-editor.org/rfc/rfc3986#section-4.3',
  },
  'language-tag': {
    name: 'LanguageTag',
    description: 'A language tag, such as de-AT.',
    url: 'https://www.rfc-editor.org/info/bcp47',
  },
  'time-zone': {
    name: 'TimeZone',
    description: 'A name of the time zone database, such as Europe/Berlin.',
    url: 'https://www.iana.org/time-zones',
  },
  birthdate: {
    name: 'Birthdate',
    description: 'YYYY-MM-DD, 0000-MM-DD when the year is omitted, or YYYY.',
    url: 'https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims',
  },
  color: {
    name: 'Color',
    description: 'A color as #rrggbb.',
    url: 'https://www.w3.org/TR/css-color-4/#hex-notation',
  },
  country: {
    name: 'CountryCode',
    description: 'A country code of two letters (ISO 3166-1 alpha-2).',
    url: 'https://www.iso.org/iso-3166-country-codes.html',
  },
  ip: {
    name: 'IPAddress',
    description: 'An IPv4 or IPv6 address.',
    url: 'https://www.rfc-editor.org/rfc/rfc5952',
  },
  scope: {
    name: 'Scope',
    description: 'A scope, as in the parameter `scope` of a token request.',
    url: 'https://www.rfc-editor.org/rfc/rfc6749#section-3.3',
  },
} as const satisfies Record<TextFormat, FormatScalar>

/** The name of the scalar of a format. */
export type FormatScalarName = (typeof FORMAT_SCALARS)[TextFormat]['name']

/** The scalar of a format. */
export const getFormatScalar = (format: TextFormat): FormatScalarName => FORMAT_SCALARS[format].name
