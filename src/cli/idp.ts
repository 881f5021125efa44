import { readFile } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import { InvalidInput } from '../core/errors.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  type Idp,
  listIdentityProviders,
  updateIdentityProvider,
} from '../idps/idps.ts'
import { testIdentityProvider } from '../idps/provider-check.ts'
import { collectRows } from '../schema/page.ts'
import {
  confirmDeletion,
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatMembers,
  formatTable,
  TENANT_ARG,
} from './command.ts'
import { createFileError } from './file-errors.ts'
import { buildSetArg } from './set-option.ts'

const reject = (field: string, description: string) =>
  new InvalidInput([{ field, description }], 'The command is not valid.')

/**
 * Reads the client secret from a file, or from stdin for `-`. Arguments of a process are visible to others.
 * Throws InvalidInput.
 */
async function readSecret(path: string | undefined): Promise<{ clientSecret?: string }> {
  if (path === undefined) return {}
  try {
    const clientSecret = (
      path === '-' ? await readStream(process.stdin) : await readFile(path, 'utf8')
    ).trim()
    if (clientSecret !== '') return { clientSecret }
  } catch (error) {
    throw createFileError('clientSecretFile', error, 'read')
  }
  throw reject('clientSecretFile', 'is empty')
}

/** Throws InvalidInput for a secret among the members of `--set`. */
function requireNoSecret(members: Record<string, unknown>): void {
  if ('clientSecret' in members)
    throw reject('set', 'must not have the clientSecret: use --client-secret-file')
}

const SECRET_ARG = {
  'client-secret-file': { type: 'string', description: 'File with the client secret; - reads it from stdin' },
} as const
const SET_ARG = buildSetArg('provider')
const ID_ARG = { id: { type: 'positional', required: true, description: 'Id of the provider' } } as const

/** What to register at the provider, and what it still needs. */
const formatIdp = ({ id, missing, callbackUrl, logoutCallbackUrl, backchannelLogoutUrl }: Idp): string =>
  formatTable([
    ['id', id],
    ['callback URL', callbackUrl],
    ['logout callback URL', logoutCallbackUrl],
    ['back-channel logout URL', backchannelLogoutUrl],
    ...(missing.length > 0 ? [['missing', missing.join(', ')]] : []),
  ])

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create an identity provider and print the URLs to register there',
  args: {
    ...ID_ARG,
    tenant: TENANT_ARG,
    type: {
      type: 'string',
      required: true,
      description: 'oidc, oauth2, apple, facebook, google, microsoft or twitter',
    },
    name: { type: 'string', required: true, description: 'Name shown to people' },
    issuer: { type: 'string', description: 'Issuer, for type oidc' },
    'client-id': { type: 'string', description: 'Client id at the provider' },
    ...SECRET_ARG,
    ...SET_ARG,
  },
  run: async (args, members) => {
    requireNoSecret(members)
    const { id, type, name, issuer } = args
    const idp = await createIdentityProvider(await createTenantCtx(args.tenant), {
      ...members,
      id,
      type,
      name,
      ...(issuer !== undefined && { issuer }),
      ...(args['client-id'] !== undefined && { clientId: args['client-id'] }),
      ...(await readSecret(args['client-secret-file'])),
    })
    return { text: formatIdp(idp), json: idp }
  },
})

const updateCommand = defineDatabaseCommand({
  name: 'update',
  description: 'Change an identity provider',
  args: { ...ID_ARG, tenant: TENANT_ARG, ...SECRET_ARG, ...SET_ARG },
  run: async (args, members) => {
    requireNoSecret(members)
    const changes = { ...members, ...(await readSecret(args['client-secret-file'])) }
    const idp = await updateIdentityProvider(await createTenantCtx(args.tenant), args.id, changes)
    return { text: formatIdp(idp), json: idp }
  },
})

const showCommand = defineDatabaseCommand({
  name: 'show',
  description: 'Show an identity provider, without its secrets',
  args: { ...ID_ARG, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const idp = await getIdentityProvider(await createTenantCtx(tenant), id)
    return { text: formatMembers(idp), json: idp }
  },
})

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List the identity providers of a tenant',
  args: { tenant: TENANT_ARG },
  run: async ({ tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const idps = await collectRows((args) => listIdentityProviders(ctx, args))
    const rows = idps.map(({ id, type, name, callbackUrl }) => [id, type, name, callbackUrl])
    return { text: formatTable([['ID', 'TYPE', 'NAME', 'CALLBACK URL'], ...rows]), json: idps }
  },
})

const testCommand = defineDatabaseCommand({
  name: 'test',
  description: 'Ask an identity provider what a sign-in needs, and print what was found',
  args: { ...ID_ARG, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const test = await testIdentityProvider(await createTenantCtx(tenant), id)
    const rows = test.findings.map(({ check, status, cause, description }) => [
      check,
      status,
      cause ?? '',
      description,
    ])
    if (!test.succeeded) process.exitCode = 1
    return { text: formatTable([['CHECK', 'STATUS', 'CAUSE', 'FOUND'], ...rows]), json: test }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Delete an identity provider and all links to it permanently',
  args: {
    ...ID_ARG,
    tenant: TENANT_ARG,
    yes: { type: 'boolean', description: 'Do not ask for confirmation' },
  },
  run: async ({ id, tenant, yes }) => {
    const ctx = await createTenantCtx(tenant)
    if (!yes)
      await confirmDeletion(`Provider ${id} and all links to it will be deleted permanently. Type its id`, id)
    return { text: `Deleted identity provider ${id}.`, json: await deleteIdentityProvider(ctx, id) }
  },
})

export const idpCommand = defineCommandGroup('idp', 'Identity providers of a tenant', {
  create: createCommand,
  list: listCommand,
  show: showCommand,
  update: updateCommand,
  test: testCommand,
  delete: deleteCommand,
})
