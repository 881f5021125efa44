import { ensureClient } from '../clients/ensure-client.ts'
import { env } from '../core/env.ts'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../core/scopes.ts'
import { ensureDataFile, resolveDataFile } from '../dev/data-files.ts'
import {
  type ClientCredentials,
  DEMO_ADMIN,
  DEMO_TENANT,
  deriveClientSecret,
  ensureDemo,
} from '../dev/demo.ts'
import { listStartUrls, type StartUrl } from '../dev/start-urls.ts'
import { ensureTenant } from '../tenants/tenants.ts'

/** What a start prints. It contains secrets in development only. */
export type BootstrapReport = {
  urls: StartUrl[]
  /** The operator's machine client in tenant `system`; null in production without BOOTSTRAP_CLIENT_ID. */
  operator: ClientCredentials | null
  /** File with the operator's credentials; null when the environment provides them. */
  operatorFile: string | null
  demo: { tenant: string; admin: string; clients: ClientCredentials[] } | null
}

/** A constant, so that processes that start concurrently create the same client. */
const OPERATOR_CLIENT_ID = 'client_01j0000000e008000000000004'
const OPERATOR_FILE = 'operator.json'

/** The credentials of BOOTSTRAP_CLIENT_ID; in development, credentials that are created once and stored. */
function findOperatorCredentials(): { clientId: string; clientSecret: string; file: string | null } | null {
  if (env.bootstrapClient)
    return { clientId: env.bootstrapClient.id, clientSecret: env.bootstrapClient.secret, file: null }
  if (env.isProduction) return null
  const fresh = {
    tenant: SYSTEM_TENANT,
    clientId: OPERATOR_CLIENT_ID,
    clientSecret: deriveClientSecret(SYSTEM_TENANT, OPERATOR_CLIENT_ID),
  }
  return { ...ensureDataFile(OPERATOR_FILE, fresh), file: resolveDataFile(OPERATOR_FILE) }
}

async function ensureOperatorClient(): Promise<Pick<BootstrapReport, 'operator' | 'operatorFile'>> {
  const credentials = findOperatorCredentials()
  if (!credentials) return { operator: null, operatorFile: null }
  const { clientId, clientSecret, file } = credentials
  const name = 'Operator'
  await ensureClient(SYSTEM_TENANT, {
    id: clientId,
    name,
    description: 'Created by the platform at its start. Acts in every tenant.',
    appType: 'machine',
    scopes: [...SCOPE_NAMES],
    allTenants: true,
    secret: clientSecret,
  })
  return { operator: redactSecret({ name, appType: 'machine', clientId, clientSecret }), operatorFile: file }
}

const redactSecret = (client: ClientCredentials): ClientCredentials => ({
  ...client,
  clientSecret: env.isProduction ? null : client.clientSecret,
})

/**
 * Ensures that tenant `system`, the operator's client and, with DEMO=1, the demo tenant exist. Every process
 * calls it at its start, also concurrently; a second run changes nothing. BOOTSTRAP_CLIENT_SECRET replaces an
 * earlier secret immediately.
 */
export async function bootstrap(): Promise<BootstrapReport> {
  await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
  const operator = await ensureOperatorClient()
  const clients = env.demo ? await ensureDemo() : null
  return {
    urls: listStartUrls(clients ? DEMO_TENANT : SYSTEM_TENANT),
    ...operator,
    demo: clients && { tenant: DEMO_TENANT, admin: DEMO_ADMIN, clients: clients.map(redactSecret) },
  }
}

const formatBannerLine = (label: string, value: string): string => `  ${label.padEnd(22)}${value}\n`

/** The text after a start: the URLs, and in development the credentials. */
export function formatBanner({ urls, operator, operatorFile, demo }: BootstrapReport, port: number): string {
  const parts = [
    `\nVestibule is ready on port ${port}.\n\n`,
    ...urls.map(({ label, url }) => formatBannerLine(label, url)),
  ]
  if (operator && !env.isProduction) {
    parts.push('\nOperator (tenant system)\n', formatBannerLine('client id', operator.clientId))
    if (operatorFile)
      parts.push(
        formatBannerLine('client secret', operator.clientSecret ?? ''),
        formatBannerLine('kept in', operatorFile),
      )
  }
  if (demo && !env.isProduction) {
    parts.push(
      '\nDemo tenant\n',
      formatBannerLine('tenant', demo.tenant),
      formatBannerLine('administrator', demo.admin),
    )
    for (const client of demo.clients)
      parts.push(
        formatBannerLine(`${client.name}`, [client.clientId, client.clientSecret].filter(Boolean).join('  ')),
      )
  }
  if (!env.databaseUrl)
    parts.push('\nThe embedded database is for development and trial; production needs DATABASE_URL.\n')
  return `${parts.join('')}\n`
}
