import { graphql, useFragment } from 'react-relay/hooks'
import type { memberRoles_membership$key } from '../../generated/memberRoles_membership.graphql.ts'
import { HeldRoles } from '../permissions/held-roles.tsx'

/** The roles at APIs that a member holds in the organization; nothing for a viewer who may not read roles. */
export function MemberRoles({
  membership,
  onChange,
}: {
  membership: memberRoles_membership$key
  onChange: () => void
}) {
  const { id, organizationId, userId, user, appRoles, providedAppRoles } = useFragment(
    graphql`
      fragment memberRoles_membership on Membership {
        id
        organizationId
        userId
        user {
          name
          email
        }
        appRoles {
          id
          name
        }
        providedAppRoles {
          appRoleId
          idpName
        }
      }
    `,
    membership,
  )
  if (!appRoles) return null
  return (
    <HeldRoles
      kind="membership"
      id={id}
      name={user?.name ?? user?.email ?? userId}
      holder="MEMBER"
      organizationId={organizationId}
      held={appRoles}
      provided={providedAppRoles ?? []}
      onChange={onChange}
    />
  )
}
