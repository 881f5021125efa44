import { ensureClient } from './clients/ensure-client.ts'
import { SCOPE_NAMES, SYSTEM_TENANT } from './ctx.ts'
import { type ClientCredentials, DEMO_ADMIN, DEMO_TENANT, derivedSecret, ensureDemo } from './dev/demo.ts'
import { keepFile, keptFile } from './dev/kept-files.ts'
import { env } from './env.ts'
import { ensureTenant } from './tenants/tenants.ts'

/** What a start prints. Secrets are in it in development only. */
export type BootstrapReport = {
  /** What to open or call, with what it is. */
  urls: { label: string; url: string }[]
  /** The operator's machine client in tenant `system`; null when production was given none. */
  operator: ClientCredentials | null
  /** File that keeps the operator's credentials; null when they came by the environment. */
  operatorFile: string | null
  demo: { tenant: string; admin: string; clients: ClientCredentials[] } | null
}

/** A constant, so that processes which start at once mean the same client. */
const OPERATOR_ID = 'client_01j0000000e008000000000004'
const OPERATOR_FILE = 'operator.json'

/** By BOOTSTRAP_CLIENT_*; else development makes one for itself, once. */
function operatorCredentials(): { clientId: string; clientSecret: string; file: string | null } | null {
  if (env.bootstrapClient)
    return { clientId: env.bootstrapClient.id, clientSecret: env.bootstrapClient.secret, file: null }
  if (env.isProduction) return null
  const fresh = {
    tenant: SYSTEM_TENANT,
    clientId: OPERATOR_ID,
    clientSecret: derivedSecret(SYSTEM_TENANT, OPERATOR_ID),
  }
  return { ...keepFile(OPERATOR_FILE, fresh), file: keptFile(OPERATOR_FILE) }
}

async function ensureOperator(): Promise<Pick<BootstrapReport, 'operator' | 'operatorFile'>> {
  const credentials = operatorCredentials()
  if (!credentials) return { operator: null, operatorFile: null }
  const { clientId, clientSecret, file } = credentials
  const name = 'Operator'
  await ensureClient(SYSTEM_TENANT, {
    id: clientId,
    name,
    description: 'Made by the platform at its start; acts in every tenant.',
    appType: 'machine',
    scopes: [...SCOPE_NAMES],
    allTenants: true,
    secret: clientSecret,
  })
  return { operator: shown({ name, appType: 'machine', clientId, clientSecret }), operatorFile: file }
}

const shown = (client: ClientCredentials): ClientCredentials => ({
  ...client,
  clientSecret: env.isProduction ? null : client.clientSecret,
})

function urlsOf(tenant: string): BootstrapReport['urls'] {
  const issuer = `${env.baseUrl}/${tenant}`
  return [
    ...(env.isProduction || !env.demo ? [] : [{ label: 'Try a sign-in', url: `${env.baseUrl}/dev/client` }]),
    ...(env.isProduction ? [] : [{ label: 'Development inbox', url: `${env.baseUrl}/dev/inbox` }]),
    { label: 'OpenID Connect', url: `${issuer}/.well-known/openid-configuration` },
    { label: 'GraphQL', url: `${issuer}/graphql` },
    { label: 'REST', url: `${issuer}/api/v1` },
    { label: 'OpenAPI', url: `${issuer}/api/v1/openapi.json` },
  ]
}

/**
 * Ensures what a deployment cannot be without: tenant `system`, the operator's client and, where DEMO says so, the
 * demo tenant. Called at the start of every process; any number of them may run at once, and a second run changes
 * nothing. BOOTSTRAP_CLIENT_SECRET replaces an earlier secret at once.
 */
export async function bootstrap(): Promise<BootstrapReport> {
  await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
  const operator = await ensureOperator()
  const clients = env.demo ? await ensureDemo() : null
  return {
    urls: urlsOf(clients ? DEMO_TENANT : SYSTEM_TENANT),
    ...operator,
    demo: clients && { tenant: DEMO_TENANT, admin: DEMO_ADMIN, clients: clients.map(shown) },
  }
}
