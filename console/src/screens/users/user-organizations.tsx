import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userOrganizations_user$key } from '../../generated/userOrganizations_user.graphql.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** The organizations that a user belongs to; nothing for a user of none. */
export function UserOrganizations({ user }: { user: userOrganizations_user$key }) {
  const { memberships } = useFragment(
    graphql`
      fragment userOrganizations_user on User {
        memberships(first: 100) {
          nodes {
            id
            createdAt
            organization {
              id
              name
            }
          }
        }
      }
    `,
    user,
  )
  if (!memberships || memberships.nodes.length === 0) return null
  return (
    <section className="card">
      <h2>{t('Organizations')}</h2>
      <ul className="sessions">
        {memberships.nodes.map(
          ({ id, createdAt, organization }) =>
            organization && (
              <li key={id}>
                <div>
                  <Link to="/organizations/$organizationId" params={{ organizationId: organization.id }}>
                    {organization.name}
                  </Link>
                </div>
                <Time at={createdAt} />
              </li>
            ),
        )}
      </ul>
    </section>
  )
}
