import type * as z from 'zod'
import { CONSOLE_CLIENT_ID } from '../../model/console-client.ts'
import type { RestRoute } from '../../rest/route.ts'
import { type Body, type Call, getListMember, getRoute, listAll, listPathParams } from '../api/public-api.ts'

/** A kind of objects of a file: a section, whose entries have the members of the operations that create and change them. */
export type Kind = {
  section: string
  /** The member by which an entry is found again. */
  key: string
  /** The members of an entry, in the order of the API. */
  members: readonly string[]
  /** Members that responses do not have, with the member that says whether there is one. */
  secrets: Readonly<Record<string, string>>
  create: RestRoute
  update: RestRoute
  remove: RestRoute
  /** The parameter of the paths with the id. */
  param: string
  /** The roles at APIs that an object holds, which operations of their own read and set. */
  held?: { get: string; set: string }
  list: (call: Call) => Promise<Body[]>
}

/** The member with the ids of the roles that a holder has. */
export const HELD = 'appRoleIds'
/** Members that no entry has: the objects of organizations are not part of a file. */
const LEFT_OUT = ['organizationId', 'expectedUpdatedAt']

const getShape = (type: unknown): Record<string, z.ZodType> => (type as z.ZodObject).shape

/** The member of a response that stands for a secret: `hasClientSecret`, or `headerNames` of `headers`. */
const findPresence = (secret: string, answer: object): string | undefined =>
  [`has${secret.charAt(0).toUpperCase()}${secret.slice(1)}`, `${secret.replace(/s$/, '')}Names`].find(
    (name) => name in answer,
  )

type Declared = {
  key?: string
  held?: Kind['held']
  /** Whether an object is configuration, and not made by people or by the server. */
  isOwn?: (row: Body) => boolean
}

function defineKind(type: string, { key = 'name', held, isOwn = () => true }: Declared = {}): Kind {
  const [create, update, remove, list] = [
    `create${type}`,
    `update${type}`,
    `delete${type}`,
    `list${type}s`,
  ].map(getRoute) as [RestRoute, RestRoute, RestRoute, RestRoute]
  const { name: section, item } = getListMember(list)
  const answer = getShape(item)
  const given = Object.keys(getShape(create.body)).filter((name) => !LEFT_OUT.includes(name))
  const secrets = given.flatMap((name) => {
    const presence = name in answer ? undefined : findPresence(name, answer)
    return presence ? [[name, presence]] : []
  })
  const query: Record<string, string> =
    'owner' in getShape(list.filter ?? { shape: {} }) ? { owner: 'tenant' } : {}
  return {
    section,
    key,
    members: [
      ...given.filter((name) => name in answer || findPresence(name, answer)),
      ...(held ? [HELD] : []),
    ],
    secrets: Object.fromEntries(secrets),
    create,
    update,
    remove,
    param: listPathParams(update)[0] as string,
    ...(held && { held }),
    list: async (call) => {
      const rows = await listAll(call, list.operationId, { query })
      const own = rows.filter((row) => (row.organizationId ?? null) === null && isOwn(row))
      if (held)
        for (const row of own) {
          const { body } = await call(held.get, {
            params: { [listPathParams(getRoute(held.get))[0] as string]: row.id as string },
          })
          row[HELD] = (body.appRoles as Body[]).map(({ id }) => id)
        }
      return own
    },
  }
}

/** The kinds, each after those that its entries name. */
export const KINDS: readonly Kind[] = [
  defineKind('ManagementRole'),
  defineKind('Api', { key: 'identifier' }),
  defineKind('AppRole'),
  defineKind('Group', { held: { get: 'getGroupAppRoles', set: 'setGroupAppRoles' } }),
  defineKind('IdentityProvider', { key: 'id' }),
  defineKind('Client', {
    held: { get: 'getClientAppRoles', set: 'setClientAppRoles' },
    isOwn: ({ id, registeredBy }) => registeredBy === 'administrator' && id !== CONSOLE_CLIENT_ID,
  }),
  defineKind('Webhook', { key: 'url' }),
]

/** The section of the settings, which is one object. */
export const SETTINGS = 'settings'
export const SETTINGS_ROUTES = {
  get: getRoute('getTenantSettings'),
  update: getRoute('updateTenantSettings'),
}
export const SETTING_NAMES: readonly string[] = Object.keys(getShape(SETTINGS_ROUTES.update.body)).filter(
  (name) => !LEFT_OUT.includes(name),
)

/** Settings that responses do not have, with the setting that each belongs to. */
export const SETTING_SECRETS: Readonly<Record<string, string>> = {
  mailServerPassword: 'mailServerUser',
  smsGatewayToken: 'smsGatewayUrl',
}
