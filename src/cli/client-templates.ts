import type { Client } from '../clients/clients.ts'
import { issuerOf } from '../core/issuer.ts'
import { NEXT_STEPS } from './next-steps.ts'

/** Native applications listen on any port of this machine (RFC 8252, section 7.3). */
const LOOPBACK = ['http://127.0.0.1/callback']

type Facts = { issuer: string; id: string; secret: string | null; callback: string }
type Template = {
  /** The name of the client when none is given. */
  name: string
  fields: object
  /** What the application or its developer does next. */
  next: (facts: Facts) => string
}

/** Lines by which a library accepts an issuer over http. */
const DEVELOPMENT_LINE = /^.*\bhttp, in development only\n/gm

/** The next step of an example, with the values of a client in the place of its marks. */
const fillIn =
  (step: string): Template['next'] =>
  ({ issuer, id, secret, callback }) => {
    const values: Record<string, string> = {
      ISSUER: issuer,
      CLIENT_ID: id,
      CLIENT_SECRET: secret ?? '',
      REDIRECT_URI: callback,
      PORT: new URL(callback).port || '4000',
    }
    return (issuer.startsWith('http:') ? step : step.replace(DEVELOPMENT_LINE, '')).replace(
      /%([A-Z_]+)%/g,
      (mark, name) => values[name] ?? mark,
    )
  }

/** What a client of each kind needs. */
export const CLIENT_TEMPLATES = {
  spa: {
    name: 'Single-page application',
    fields: { appType: 'single-page' },
    next: fillIn(NEXT_STEPS.spa),
  },
  web: { name: 'Web application', fields: { appType: 'web' }, next: fillIn(NEXT_STEPS.web) },
  native: {
    name: 'Native application',
    fields: { appType: 'native', callbacks: LOOPBACK },
    next: fillIn(NEXT_STEPS.native),
  },
  machine: {
    name: 'Machine',
    fields: { appType: 'machine' },
    next: fillIn(NEXT_STEPS.machine),
  },
  mcp: {
    name: 'MCP client',
    fields: { appType: 'native', callbacks: LOOPBACK },
    next: ({ issuer, id }) =>
      `Enter the client id ${id} in the MCP client. The MCP server names ${issuer} as its authorization server.`,
  },
  device: {
    name: 'Device',
    fields: { appType: 'native' },
    next: fillIn(NEXT_STEPS.device),
  },
  fapi2: {
    name: 'FAPI 2.0 client',
    fields: { appType: 'web', profile: 'fapi2' },
    next: ({ issuer }) => `The client authenticates by private_key_jwt with its key. Metadata:
  ${issuer}/.well-known/openid-configuration`,
  },
} as const satisfies Record<string, Template>

export type TemplateName = keyof typeof CLIENT_TEMPLATES
export const TEMPLATE_NAMES = Object.keys(CLIENT_TEMPLATES) as TemplateName[]

/** The template of an app type, for a client that was created without a template. */
const TEMPLATE_BY_APP_TYPE: Record<string, TemplateName> = {
  'single-page': 'spa',
  web: 'web',
  native: 'native',
  machine: 'machine',
}

/** What to do next with a new client, by its template or else its app type. */
export function describeNextStep(
  tenant: string,
  client: Client,
  secret: string | null,
  template: TemplateName | undefined,
): string {
  const { next }: Template = CLIENT_TEMPLATES[template ?? TEMPLATE_BY_APP_TYPE[client.appType] ?? 'web']
  return next({
    issuer: issuerOf(tenant),
    id: client.id,
    secret,
    callback: client.callbacks[0] ?? 'https://app.example.com/callback',
  })
}
