import { env } from '../core/env.ts'
import { text } from './input-shapes.ts'

export type UrlRules = {
  /** Also admit private-use schemes such as com.example.app: (RFC 8252, section 7.1). */
  customSchemes?: boolean
  /** Only scheme, host and port. */
  originOnly?: boolean
  /** https, or http on a loopback host. */
  secure?: boolean
  /**
   * Admits a fragment, as in links that users follow. Redirect URIs must not have one (RFC 6749, section
   * 3.1.2).
   */
  fragment?: boolean
  /** No query, as in issuers (OIDC Discovery, section 3). */
  noQuery?: boolean
  /** No asterisk. */
  noWildcards?: boolean
}

const IPV6_HOST = String.raw`\[[0-9A-Fa-f:.]+\]`
const LOOPBACK = String.raw`(?:[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127\.0\.0\.1|\[::1\])(?![^:/?#])`
/** Characters of a path, query or fragment (RFC 3986, section 3). */
const createCharacter = (more: string) => `(?:[A-Za-z0-9._~!$&'()+,;=:@/${more}-]|%[0-9A-Fa-f]{2})`
const createTail = (more: string) => `${createCharacter(more)}*`

/** An absolute URI without a fragment (RFC 3986, section 4.3), whose path or authority is not empty. */
const URI_SYNTAX = new RegExp(
  `^[A-Za-z][A-Za-z0-9+.-]*:(?://${IPV6_HOST}|${createCharacter('')})${createTail('?*')}$`,
  'u',
)

/** The syntax of URLs by these rules, as a regular expression of the OpenAPI document. */
export function createUrlPattern({
  customSchemes,
  originOnly,
  secure,
  fragment,
  noQuery,
  noWildcards,
}: UrlRules): string {
  if (originOnly) {
    const scheme = secure ? `(?:https|http(?=://${LOOPBACK}))` : 'https?'
    return String.raw`^(?!https://.*:443$|http://.*:80$)${scheme}://(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[1-9][0-9]{0,4})?$`
  }
  const tail = createTail(`${noQuery ? '' : '?'}${noWildcards ? '' : '*'}`)
  const host = `(?:${IPV6_HOST}|[A-Za-z0-9._${noWildcards ? '' : '*'}-]+)(?::[0-9]{0,5})?`
  const scheme = secure
    ? `(?:[Hh][Tt][Tt][Pp][Ss]|[Hh][Tt][Tt][Pp](?=://${LOOPBACK}))`
    : '[Hh][Tt][Tt][Pp][Ss]?'
  const web = `${scheme}://${host}(?=[/?#]|$)`
  const other = `[A-Za-z][A-Za-z0-9+-]*\\.[A-Za-z0-9+.-]*:(?!//[^/?]*@)${createCharacter('')}`
  return `^${customSchemes ? `(?:${web}|${other})` : web}${tail}${fragment ? `(?:#${tail})?` : ''}$`
}

const NOT_ASCII = 'must be in ASCII, other characters percent-encoded (RFC 3986)'

const syntaxes = new Map<string, RegExp>()
/** The regular expression of a URL that keeps the rules, compiled once. */
function createUrlSyntax(rules: UrlRules): RegExp {
  const pattern = createUrlPattern(rules)
  const syntax = syntaxes.get(pattern) ?? new RegExp(pattern, 'u')
  syntaxes.set(pattern, syntax)
  return syntax
}

const SCRIPT_SCHEMES = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'about:',
  'ws:',
  'wss:',
  'ftp:',
])
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Whether the host name of a URL is a loopback host. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_HOSTS.has(hostname)

/** Why `value` is rejected as a URL, or null. Every URL in an input is checked here. */
export function findUrlIssue(value: string, rules: UrlRules = {}): string | null {
  if (!URL.canParse(value)) return 'must be an absolute URL'
  const url = new URL(value)
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (SCRIPT_SCHEMES.has(url.protocol) || (!isWeb && !rules.customSchemes))
    return 'must be an http or https URL'
  // RFC 8252, section 7.1 asks for reverse domain names; a scheme without a dot is likely registered for
  // something else.
  if (!isWeb && !url.protocol.includes('.'))
    return 'must use a scheme of reverse domain form, such as com.example.app:'
  if (url.username || url.password) return 'must not contain user information'
  if (!rules.fragment && value.includes('#')) return 'must not contain a fragment'
  if (/[\s\\]/.test(value)) return 'must not contain spaces or backslashes'
  if (rules.noQuery && value.includes('?')) return 'must not contain a query (OIDC Discovery, section 3)'
  if (rules.noWildcards && value.includes('*')) return 'must not contain wildcards'
  if (rules.originOnly && value !== url.origin) return 'must be an origin such as https://example.com'
  if (rules.secure && url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return 'must be an https URL (http on this machine only)'
  if (!createUrlSyntax(rules).test(value)) return NOT_ASCII
  return null
}

/** A URL to which users or clients may be redirected or linked. */
export const createAllowedUrl = (rules: UrlRules = {}) =>
  text(2000)
    .superRefine((value, context) => {
      const issue = findUrlIssue(value, rules)
      if (issue) context.addIssue(issue)
    })
    .meta({ format: 'uri', pattern: createUrlPattern(rules) })

function findUriIssue(value: string): string | null {
  if (!URL.canParse(value)) return 'must be an absolute URI'
  if (value.includes('#')) return 'must not contain a fragment'
  if (/[\s\\]/.test(value)) return 'must not contain spaces or backslashes'
  return URI_SYNTAX.test(value) ? null : NOT_ASCII
}

/** An identifier that is an absolute URI of any scheme, without a fragment. */
export const createUri = () =>
  text(2000)
    .superRefine((value, context) => {
      const issue = findUriIssue(value)
      if (issue) context.addIssue(issue)
    })
    .meta({ format: 'uri', pattern: URI_SYNTAX.source })

/** The identifier of an API (RFC 8707, section 2). Identifiers of this deployment are rejected. */
export const createResourceUri = () =>
  createUri().refine(
    (value) => !URL.canParse(value) || new URL(value).origin !== env.baseUrl,
    'belongs to this deployment',
  )
