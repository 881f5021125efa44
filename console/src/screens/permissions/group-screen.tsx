import '../users/users.css'
import '../applications/applications.css'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { groupScreenDeleteMutation } from '../../generated/groupScreenDeleteMutation.graphql.ts'
import type { groupScreenQuery } from '../../generated/groupScreenQuery.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { GroupForm } from './group-form.tsx'
import { GroupMembers } from './group-members.tsx'
import { HeldRoles } from './held-roles.tsx'
import { NewGroupDialog } from './new-group.tsx'

const route = getRouteApi('/groups/$groupId')

/** One group: its words and its place, its roles, its members, and the groups nested in it. */
export function GroupScreen() {
  const { groupId } = route.useParams()
  const navigate = useNavigate()
  const [{ viewer, group, nested }, refresh] = useScreenQuery<groupScreenQuery>(
    graphql`
      query groupScreenQuery($groupId: ID!) {
        viewer {
          eventPosition
        }
        group(id: $groupId) {
          id
          name
          organizationId
          organization {
            id
            name
          }
          parent {
            id
            name
            appRoles {
              name
            }
            parent {
              id
              name
              appRoles {
                name
              }
            }
          }
          appRoles {
            id
            name
          }
          ...groupForm_group
          ...groupMembers_group
        }
        nested: groups(first: 200, filter: { parentId: $groupId }) {
          nodes {
            id
            name
          }
        }
      }
    `,
    { groupId },
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  const deletion = useProblemMutation<groupScreenDeleteMutation>(graphql`
    mutation groupScreenDeleteMutation($groupId: ID!) {
      deleteGroup(input: { groupId: $groupId }) {
        ... on DeleteGroupPayload {
          deletedGroupId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!group)
    return (
      <div className="outcome">
        <h1>{t('There is no such group')}</h1>
        <p>{t('It may have been deleted since.')}</p>
        <Link to="/groups" className="button">
          {t('All groups')}
        </Link>
      </div>
    )
  const { name, organization } = group
  const around = [group.parent, group.parent?.parent].filter((outer) => outer != null)
  return (
    <section className="screen">
      {mayFollow && (
        <>
          <LiveChanges subjectId={groupId} after={viewer?.eventPosition} onChange={refresh} />
          <LiveChanges
            types={[
              'GROUP_CREATED',
              'GROUP_UPDATED',
              'GROUP_DELETED',
              'APP_ROLE_UPDATED',
              'APP_ROLE_DELETED',
            ]}
            after={viewer?.eventPosition}
            onChange={refresh}
          />
        </>
      )}
      <header className="screen-head user-head">
        <div>
          <h1>{name}</h1>
          <CopiedText text={group.id} />
        </div>
        <p>
          {organization ? (
            <Link to="/organizations/$organizationId" params={{ organizationId: organization.id }}>
              {t('Group of {organization}', { organization: organization.name })}
            </Link>
          ) : (
            t('Group of the tenant')
          )}
          {around.map((outer) => (
            <span key={outer.id}>
              {' › '}
              <Link to="/groups/$groupId" params={{ groupId: outer.id }}>
                {outer.name}
              </Link>
            </span>
          ))}
        </p>
        {mayWrite && (
          <div className="actions">
            <ConfirmedButton
              label={t('Delete')}
              title={t('Delete {name}?', { name })}
              consequence={<p>{t('Its members lose its roles, and stay users. Nothing brings it back.')}</p>}
              name={name}
              isRunning={deletion.isRunning}
              problem={deletion.problem}
              onConfirm={(close) =>
                deletion.run({ groupId }, () => {
                  close()
                  notify(t('{name} is deleted.', { name }))
                  // Edits of what is deleted are not worth a question.
                  void (organization
                    ? navigate({
                        to: '/organizations/$organizationId',
                        params: { organizationId: organization.id },
                        ignoreBlocker: true,
                      })
                    : navigate({ to: '/groups', ignoreBlocker: true }))
                })
              }
            />
          </div>
        )}
      </header>
      <div className="sections">
        <section className="card">
          <h2>{t('Roles at APIs')}</h2>
          <HeldRoles
            kind="group"
            id={group.id}
            name={name}
            holder={group.organizationId ? 'MEMBER' : 'USER'}
            organizationId={group.organizationId ?? null}
            held={group.appRoles ?? []}
            onChange={refresh}
          />
          {around.map(
            ({ id, name: outer, appRoles }) =>
              appRoles &&
              appRoles.length > 0 && (
                <p key={id} className="hint">
                  {t('By {group}: {roles}', {
                    group: outer,
                    roles: appRoles.map((role) => role.name).join(', '),
                  })}
                </p>
              ),
          )}
        </section>
        <GroupMembers group={group} mayWrite={mayWrite} onChange={refresh} />
        <section className="card">
          <h2>{t('Nested groups')}</h2>
          <p className="hint">
            {t('Their members hold the roles of this group too. Three groups are nested at most.')}
          </p>
          <ul className="sessions">
            {nested?.nodes.map((inner) => (
              <li key={inner.id}>
                <Link to="/groups/$groupId" params={{ groupId: inner.id }}>
                  {inner.name}
                </Link>
              </li>
            ))}
          </ul>
          {mayWrite && around.length < 2 && (
            <div className="actions">
              <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
                {t('New nested group')}
              </button>
            </div>
          )}
        </section>
        <GroupForm key={groupId} group={group} mayWrite={mayWrite} />
      </div>
      {isOpen && (
        <NewGroupDialog
          organizationId={group.organizationId ?? null}
          parentId={group.id}
          onClose={() => setIsOpen(false)}
        />
      )}
    </section>
  )
}
