import type { OrganizationMode } from '../model/organization-mode.ts'
import { defineEnum } from '../schema/enums.ts'

export const APP_TYPE = defineEnum('ClientAppType', 'The kind of application.', {
  'single-page': 'Runs in a browser; has no secret.',
  web: 'Runs on a server; has a secret.',
  native: 'Runs on a device of a person; has no secret.',
  machine: 'A program that acts for itself; has a secret.',
})
export const APP_TYPES = APP_TYPE.values
export type AppType = (typeof APP_TYPES)[number]
/**
 * App types that can keep a secret. Code in a browser or on a user's device cannot (RFC 8252, section 8.5).
 */
export const HAS_SECRET: Record<AppType, boolean> = {
  web: true,
  machine: true,
  'single-page': false,
  native: false,
}

export const REGISTERED_BY = defineEnum('ClientRegistration', 'Who created a client.', {
  administrator: 'An administrator, or the operator.',
  registration: 'It registered itself (RFC 7591).',
  'open-registration': 'Anyone registered it, without a token (RFC 7591).',
  document: 'The publisher of its metadata document: its id is the URL of the document.',
})
export type RegisteredBy = (typeof REGISTERED_BY.values)[number]

export const CLIENT_TYPE = defineEnum('ClientType', 'The purpose of the client; never changes.', {
  login: 'Signs people in.',
  payment: 'Has people confirm payments.',
})

/** Which organization of the user tokens are for. */
export const ORGANIZATION_MODE = defineEnum<OrganizationMode>(
  'OrganizationMode',
  'Which organization of the user tokens are for, where the request names none.',
  {
    none: 'None.',
    ask: 'That of the member. Who belongs to several chooses; who belongs to none signs in without one.',
    required: 'That of the member. Who belongs to none cannot sign in.',
  },
)
