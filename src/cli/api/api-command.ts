import type { ArgsDef, CommandDef, ParsedArgs } from 'citty'
import type { Ctx } from '../../context/context.ts'
import { env } from '../../core/env.ts'
import { InvalidInput } from '../../core/errors.ts'
import { SCOPE_NAMES } from '../../core/scopes.ts'
import { parseQuery } from '../../rest/query.ts'
import { getPageLinks } from '../../schema/page.ts'
import {
  type CommandResult,
  createTenantCtx,
  defineReportingCommand,
  TENANT_ARG,
  withRuntime,
} from '../command.ts'
import { type Body, type Call, getRoute, type PublicApi } from './public-api.ts'
import { openRemoteApi } from './remote-api.ts'

/** Calls the handlers of the routes without HTTP. The platform may do what all scopes permit. */
const createCall =
  (ctx: Ctx): Call =>
  async (operation, { params = {}, query = {}, body } = {}) => {
    const route = getRoute(operation)
    const parsed = parseQuery(route, new URLSearchParams(query))
    const result = await route.handle(ctx, { params, body, ...parsed })
    // As in JSON: instants are text.
    return { body: JSON.parse(JSON.stringify(result)) as Body, after: getPageLinks(result).after }
  }

/** Opens the operations of a tenant on the database, which is open. Throws NotFound. */
export async function openDirectApi(tenant: string): Promise<PublicApi> {
  const ctx: Ctx = { ...(await createTenantCtx(tenant)), scopes: new Set(SCOPE_NAMES) }
  return {
    call: createCall(ctx),
    isAtomic: true,
    atomically: (work) => ctx.db.transaction((tx) => work(createCall({ ...ctx, db: tx.join() }))),
  }
}

/** Where a command works: on the database, or over the public API of a server. */
export const API_ARGS = {
  tenant: TENANT_ARG,
  url: { type: 'string', description: 'Address of a server; without it, the command works on the database' },
  token: {
    type: 'string',
    description:
      'Access token or API key for --url; better in VESTIBULE_TOKEN, which other processes cannot see',
  },
} as const satisfies ArgsDef

/** Opens what the options name, for `use`. */
async function withApi<T>(
  { tenant, url, token = env.commandToken }: { tenant: string; url?: string; token?: string },
  use: (api: PublicApi) => Promise<T>,
): Promise<T> {
  if (url === undefined) return withRuntime(async () => use(await openDirectApi(tenant)))
  if (!token)
    throw new InvalidInput(
      [{ field: '--token', description: 'is required with --url, or VESTIBULE_TOKEN' }],
      'The command is not valid.',
    )
  return use(openRemoteApi(tenant, url, token))
}

/** Defines a command about a tenant that works on the database, or with `--url` over the public API. */
export const defineApiCommand = <const Args extends ArgsDef>({
  args: own,
  run,
  ...meta
}: {
  name: string
  description: string
  args: Args
  run: (api: PublicApi, args: ParsedArgs<Args>, members: Record<string, unknown>) => Promise<CommandResult>
}): CommandDef => {
  const all = { ...own, ...API_ARGS } as Args & typeof API_ARGS
  return defineReportingCommand({
    ...meta,
    args: all,
    run: (args, members) =>
      withApi(args as never, (api) => run(api, args as unknown as ParsedArgs<Args>, members)),
  })
}
