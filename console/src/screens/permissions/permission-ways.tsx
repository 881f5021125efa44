import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { PermissionReason, permissionWaysQuery } from '../../generated/permissionWaysQuery.graphql.ts'
import { t } from '../../words/words.ts'

const REASONS: Partial<Record<PermissionReason, string>> = {
  LOCKED: t('No: the user is locked.'),
  NO_MEMBER: t('No: the user is not a member of the organization.'),
  NO_ROLE: t('No: no role of the user, of a group or of a membership gives it.'),
}

function Ways({ variables, fetchKey }: { variables: permissionWaysQuery['variables']; fetchKey: number }) {
  const { checkPermission } = useLazyLoadQuery<permissionWaysQuery>(
    graphql`
      query permissionWaysQuery($userId: ID!, $api: String!, $permission: String!, $organizationId: ID) {
        checkPermission(
          userId: $userId
          api: $api
          permission: $permission
          organizationId: $organizationId
          explain: true
        ) {
          isPermitted
          reason
          paths {
            roleId
            roleName
            groupId
            groupName
            membershipId
          }
        }
      }
    `,
    variables,
    { fetchPolicy: 'network-only', fetchKey },
  )
  if (!checkPermission?.isPermitted)
    return (
      <p className="ways">
        {(checkPermission && REASONS[checkPermission.reason]) ?? t('The user does not have it now.')}
      </p>
    )
  return (
    <ul className="ways">
      {checkPermission.paths.map(({ roleId, roleName, groupId, groupName, membershipId }) => (
        <li key={`${roleId} ${groupId} ${membershipId}`}>
          <Link to="/app-roles/$appRoleId" params={{ appRoleId: roleId }}>
            {t('Role {role}', { role: roleName })}
          </Link>{' '}
          {groupId ? (
            <Link to="/groups/$groupId" params={{ groupId }}>
              {t('by the group {group}', { group: groupName })}
            </Link>
          ) : membershipId ? (
            t('by the membership in the organization')
          ) : (
            t('held directly')
          )}
        </li>
      ))}
    </ul>
  )
}

/** How a user gets a permission, or why not, as of now; another `fetchKey` asks again. */
export const PermissionWays = ({
  variables,
  fetchKey = 0,
}: {
  variables: permissionWaysQuery['variables']
  fetchKey?: number
}) => (
  <Suspense fallback={<p className="ways">{t('Loading…')}</p>}>
    <Ways variables={variables} fetchKey={fetchKey} />
  </Suspense>
)
