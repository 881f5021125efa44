import { Resolver } from 'node:dns'
import * as z from 'zod'

// Values of variables, each a text.

export const booleanFlag = z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1')
export const createChoice = <const Choices extends readonly string[]>(...choices: Choices) =>
  z.enum(choices, `must be ${new Intl.ListFormat('en', { type: 'disjunction' }).format(choices)}`)
export const createCount = (max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`)
export const createUrl = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    )
export const encryptionKey = z.string().transform((value, context) =>
  value.split(',').map((part) => {
    const key = Buffer.from(part.trim(), 'base64url')
    if (key.length !== 32) context.addIssue('each key must be 32 bytes in base64url')
    return key
  }),
)

export const hostList = z.string().transform((value, context) =>
  value.split(',').map((part) => {
    const [, host = '', port] = /^\s*([^\s:]+|\[[^\]]+\])(?::(\d{1,5}))?\s*$/.exec(part) ?? []
    if (!host) context.addIssue('each must be host:port')
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? 26_379) }
  }),
)

export const share = z
  .string()
  .regex(/^(?:0|1|0?\.\d{1,6})$/, 'must be a number from 0 to 1')
  .transform(Number)

/** Servers as node:dns takes them. */
export const dnsServerList = z.string().transform((value, context) => {
  const servers = value.split(',').map((part) => part.trim())
  try {
    new Resolver().setServers(servers)
  } catch {
    context.addIssue('each must be an IP address, with a port or without')
  }
  return servers
})

const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`
/** Origins as browsers send them, each once. */
export const originList = z.string().transform((value, context) => {
  const origins = value.split(',').map((part) => part.trim())
  if (!origins.every(isOrigin)) context.addIssue('each must be an origin without a path')
  return [...new Set(origins.filter(isOrigin).map((origin) => new URL(origin).origin))]
})

const DOMAIN_PATTERN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Domains in ASCII and lower case, each once. */
export const domainList = z.string().transform((value, context) => {
  const domains = value.split(',').map((part) => part.trim().toLowerCase())
  if (!domains.every((domain) => DOMAIN_PATTERN.test(domain)))
    context.addIssue('each must be a domain in ASCII, such as example.com')
  return [...new Set(domains)]
})
