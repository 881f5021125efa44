import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationGroups_query$key } from '../../generated/organizationGroups_query.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { NewGroupDialog } from '../permissions/new-group.tsx'

/** The groups of an organization; nothing for a viewer who may not read roles. */
export function OrganizationGroups({
  organizationId,
  query,
  onChange,
}: {
  organizationId: string
  query: organizationGroups_query$key
  onChange: () => void
}) {
  const { viewer, groups } = useFragment(
    graphql`
      fragment organizationGroups_query on Query
      @argumentDefinitions(organizationId: { type: "ID!" }) {
        viewer {
          eventPosition
        }
        groups(first: 200, filter: { organizationId: $organizationId }) {
          nodes {
            id
            name
            parent {
              id
              name
            }
            appRoles {
              id
              name
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  if (!groups) return null
  return (
    <section className="card">
      {mayFollow && (
        <LiveChanges
          types={['GROUP_UPDATED', 'GROUP_APP_ROLES_CHANGED', 'APP_ROLE_DELETED']}
          after={viewer?.eventPosition}
          onChange={onChange}
        />
      )}
      <h2>{t('Groups')}</h2>
      {groups.nodes.length === 0 && (
        <p className="empty">{t('A group gives members of the organization roles together.')}</p>
      )}
      <ul className="sessions">
        {groups.nodes.map((group) => (
          <li key={group.id}>
            <div>
              <Link to="/groups/$groupId" params={{ groupId: group.id }}>
                {[group.parent?.name, group.name].filter(Boolean).join(' › ')}
              </Link>
              <span>{group.appRoles?.map(({ name }) => name).join(', ')}</span>
            </div>
          </li>
        ))}
      </ul>
      {mayWrite && (
        <div className="actions">
          <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
            {t('New group')}
          </button>
        </div>
      )}
      {isOpen && (
        <NewGroupDialog organizationId={organizationId} parentId={null} onClose={() => setIsOpen(false)} />
      )}
    </section>
  )
}
