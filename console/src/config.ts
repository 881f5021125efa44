/** The deployment as the server writes it into the page. */
type Deployment = {
  issuer: string
  tenant: string
  clientId: string
  environment: 'development' | 'production'
  /** The name of the tenant. */
  name: string
}

const content = document.querySelector<HTMLMetaElement>('meta[name=vestibule]')?.content ?? '{}'

export const deployment = JSON.parse(content) as Deployment

/** Whether this is the console of the operators of all tenants. */
export const IS_SYSTEM = deployment.tenant === 'system'

/** The path of the console, which starts each of its URLs. */
export const CONSOLE_PATH = new URL(`${deployment.issuer}/console`).pathname

/** The console of a tenant of the deployment. */
export const getConsoleUrl = (tenant: string): string =>
  `${deployment.issuer.replace(/[^/]+$/, encodeURIComponent(tenant))}/console`

export const CALLBACK_URL = `${deployment.issuer}/console/callback`

/** Where the window of a sign-in that is tried with another application ends. */
export const TRY_URL = `${deployment.issuer}/console/try`

/** The audience of access tokens for the management API. */
export const API = `${deployment.issuer}/api`

export const GRAPHQL_URL = `${deployment.issuer}/graphql`
