import { getRouteApi } from '@tanstack/react-router'
import { useManagedOrganization } from '../../shell/viewer-scopes.ts'
import { ManagedOrganizationScreen } from './managed-organization.tsx'
import { OrganizationScreen } from './organization-screen.tsx'

const route = getRouteApi('/organizations/$organizationId')

/** One organization, as administrators of the tenant see it, or those of the organization. */
export function OrganizationEntry() {
  const { organizationId } = route.useParams()
  return useManagedOrganization() === organizationId ? (
    <ManagedOrganizationScreen organizationId={organizationId} />
  ) : (
    <OrganizationScreen />
  )
}
