import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { CONSOLE_PATH } from './config.ts'
import { Failure, NotFound } from './shell/failure.tsx'
import { Shell } from './shell/shell.tsx'

/** A member of the query of a URL as text; undefined when it is something else. */
const readText = (search: Record<string, unknown>, name: string): string | undefined => {
  const value = search[name]
  // The router reads 123 and true as such.
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** The search, the filters and the order of a list. */
const readTexts = (search: Record<string, unknown>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.keys(search).map((name) => [name, readText(search, name)]))

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/start/start-screen.tsx'), 'StartScreen'),
})

const users = createRoute({
  getParentRoute: () => root,
  path: '/users',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/users/users-screen.tsx'), 'UsersScreen'),
})

const user = createRoute({
  getParentRoute: () => root,
  path: '/users/$userId',
  validateSearch: (
    search: Record<string, unknown>,
  ): { tab?: string; only?: string; organization?: string } => ({
    tab: readText(search, 'tab'),
    only: readText(search, 'only'),
    organization: readText(search, 'organization'),
  }),
  component: lazyRouteComponent(() => import('./screens/users/user-screen.tsx'), 'UserScreen'),
})

const newUser = createRoute({
  getParentRoute: () => root,
  path: '/users/new',
  component: lazyRouteComponent(() => import('./screens/users/new-user-screen.tsx'), 'NewUserScreen'),
})

const importUsers = createRoute({
  getParentRoute: () => root,
  path: '/users/import',
  component: lazyRouteComponent(() => import('./screens/users/import-screen.tsx'), 'ImportScreen'),
})

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/users/jobs',
  component: lazyRouteComponent(() => import('./screens/jobs/jobs-screen.tsx'), 'JobsScreen'),
})

const invitations = createRoute({
  getParentRoute: () => root,
  path: '/invitations',
  component: lazyRouteComponent(
    () => import('./screens/invitations/invitations-screen.tsx'),
    'InvitationsScreen',
  ),
})

const organizations = createRoute({
  getParentRoute: () => root,
  path: '/organizations',
  validateSearch: readTexts,
  component: lazyRouteComponent(
    () => import('./screens/organizations/organizations-screen.tsx'),
    'OrganizationsScreen',
  ),
})

const organization = createRoute({
  getParentRoute: () => root,
  path: '/organizations/$organizationId',
  component: lazyRouteComponent(
    () => import('./screens/organizations/organization-entry.tsx'),
    'OrganizationEntry',
  ),
})

const roles = createRoute({
  getParentRoute: () => root,
  path: '/roles',
  component: lazyRouteComponent(() => import('./screens/roles/roles-screen.tsx'), 'RolesScreen'),
})

const apis = createRoute({
  getParentRoute: () => root,
  path: '/apis',
  component: lazyRouteComponent(() => import('./screens/permissions/apis-screen.tsx'), 'ApisScreen'),
})

const apiDetails = createRoute({
  getParentRoute: () => root,
  path: '/apis/$apiId',
  component: lazyRouteComponent(
    () => import('./screens/permissions/api-details-screen.tsx'),
    'ApiDetailsScreen',
  ),
})

const appRoles = createRoute({
  getParentRoute: () => root,
  path: '/app-roles',
  component: lazyRouteComponent(() => import('./screens/permissions/app-roles-screen.tsx'), 'AppRolesScreen'),
})

const appRole = createRoute({
  getParentRoute: () => root,
  path: '/app-roles/$appRoleId',
  component: lazyRouteComponent(() => import('./screens/permissions/app-role-screen.tsx'), 'AppRoleScreen'),
})

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  component: lazyRouteComponent(() => import('./screens/permissions/groups-screen.tsx'), 'GroupsScreen'),
})

const group = createRoute({
  getParentRoute: () => root,
  path: '/groups/$groupId',
  component: lazyRouteComponent(() => import('./screens/permissions/group-screen.tsx'), 'GroupScreen'),
})

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/sessions/sessions-screen.tsx'), 'SessionsScreen'),
})

const log = createRoute({
  getParentRoute: () => root,
  path: '/log',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/log/log-screen.tsx'), 'LogScreen'),
})

const explain = createRoute({
  getParentRoute: () => root,
  path: '/explain',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/explain/explain-screen.tsx'), 'ExplainScreen'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-in-screen.tsx'), 'SignInScreen'),
})

const providers = createRoute({
  getParentRoute: () => root,
  path: '/providers',
  validateSearch: (
    search: Record<string, unknown>,
  ): { open?: string; type?: string; organization?: string } => ({
    open: readText(search, 'open'),
    type: readText(search, 'type'),
    organization: readText(search, 'organization'),
  }),
  component: lazyRouteComponent(() => import('./screens/providers/providers-screen.tsx'), 'ProvidersScreen'),
})

const brand = createRoute({
  getParentRoute: () => root,
  path: '/brand',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/brand/brand-screen.tsx'), 'BrandScreen'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings-screen.tsx'), 'SettingsScreen'),
})

const applications = createRoute({
  getParentRoute: () => root,
  path: '/applications',
  validateSearch: readTexts,
  component: lazyRouteComponent(
    () => import('./screens/applications/applications-screen.tsx'),
    'ApplicationsScreen',
  ),
})

const newApplication = createRoute({
  getParentRoute: () => root,
  path: '/applications/new',
  component: lazyRouteComponent(
    () => import('./screens/applications/new-application-screen.tsx'),
    'NewApplicationScreen',
  ),
})

const application = createRoute({
  getParentRoute: () => root,
  path: '/applications/$clientId',
  validateSearch: readTexts,
  component: lazyRouteComponent(
    () => import('./screens/applications/application-screen.tsx'),
    'ApplicationScreen',
  ),
})

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  component: lazyRouteComponent(() => import('./screens/keys/keys-screen.tsx'), 'KeysScreen'),
})

const apiKeys = createRoute({
  getParentRoute: () => root,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./screens/api-keys/api-keys-screen.tsx'), 'ApiKeysScreen'),
})

const webhooks = createRoute({
  getParentRoute: () => root,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./screens/webhooks/webhooks-screen.tsx'), 'WebhooksScreen'),
})

const webhook = createRoute({
  getParentRoute: () => root,
  path: '/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./screens/webhooks/webhook-screen.tsx'), 'WebhookScreen'),
})

const signalStreams = createRoute({
  getParentRoute: () => root,
  path: '/signal-streams',
  component: lazyRouteComponent(
    () => import('./screens/signals/signal-streams-screen.tsx'),
    'SignalStreamsScreen',
  ),
})

const signalStream = createRoute({
  getParentRoute: () => root,
  path: '/signal-streams/$streamId',
  component: lazyRouteComponent(
    () => import('./screens/signals/signal-stream-screen.tsx'),
    'SignalStreamScreen',
  ),
})

const tenants = createRoute({
  getParentRoute: () => root,
  path: '/tenants',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/tenants/tenants-screen.tsx'), 'TenantsScreen'),
})

const tenant = createRoute({
  getParentRoute: () => root,
  path: '/tenants/$slug',
  component: lazyRouteComponent(() => import('./screens/tenants/tenant-screen.tsx'), 'TenantScreen'),
})

const api = createRoute({
  getParentRoute: () => root,
  path: '/api',
  validateSearch: readTexts,
  component: lazyRouteComponent(() => import('./screens/api/api-screen.tsx'), 'ApiScreen'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    users,
    newUser,
    importUsers,
    jobs,
    user,
    sessions,
    invitations,
    organizations,
    organization,
    roles,
    apis,
    apiDetails,
    appRoles,
    appRole,
    groups,
    group,
    applications,
    newApplication,
    application,
    log,
    explain,
    signIn,
    providers,
    brand,
    settings,
    keys,
    apiKeys,
    webhooks,
    webhook,
    signalStreams,
    signalStream,
    tenants,
    tenant,
    api,
  ]),
  basepath: CONSOLE_PATH,
  defaultErrorComponent: Failure,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
