import type { Client } from '../clients/clients.ts'
import { issuerOf } from '../core/issuer.ts'

/** Native applications listen on any port of this machine (RFC 8252, section 7.3). */
const LOOPBACK = ['http://127.0.0.1/callback']

type Facts = { issuer: string; id: string; callback: string }
type Template = {
  /** The name of the client when none is given. */
  name: string
  fields: object
  /** What the application or its developer does next. */
  next: (facts: Facts) => string
}

const nextOfServer = ({ issuer, id }: Facts) => `npm install openid-client

  import * as client from 'openid-client'
  const config = await client.discovery(new URL('${issuer}'), '${id}', process.env.CLIENT_SECRET)`

const nextOfNative = ({ issuer, id }: Facts) => `npm install openid-client

  import * as client from 'openid-client'
  const config = await client.discovery(new URL('${issuer}'), '${id}', undefined, client.None())`

/** What a client of each kind needs. */
export const CLIENT_TEMPLATES = {
  spa: {
    name: 'Single-page application',
    fields: { appType: 'single-page' },
    next: ({ issuer, id, callback }) => `npm install oidc-client-ts

  import { UserManager } from 'oidc-client-ts'
  const users = new UserManager({ authority: '${issuer}', client_id: '${id}', redirect_uri: '${callback}', loadUserInfo: true })
  await users.signinRedirect()`,
  },
  web: { name: 'Web application', fields: { appType: 'web' }, next: nextOfServer },
  native: {
    name: 'Native application',
    fields: { appType: 'native', callbacks: LOOPBACK },
    next: nextOfNative,
  },
  machine: {
    name: 'Machine',
    fields: { appType: 'machine' },
    next: ({ issuer, id }) =>
      `curl -u "${id}:$CLIENT_SECRET" -d grant_type=client_credentials ${issuer}/oidc/token`,
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
    next: ({ issuer, id }) => `curl -d client_id=${id} -d scope="openid profile" ${issuer}/oidc/device`,
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
export function describeNextStep(tenant: string, client: Client, template: TemplateName | undefined): string {
  const { next }: Template = CLIENT_TEMPLATES[template ?? TEMPLATE_BY_APP_TYPE[client.appType] ?? 'web']
  return next({
    issuer: issuerOf(tenant),
    id: client.id,
    callback: client.callbacks[0] ?? 'https://app.example.com/callback',
  })
}
