import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { EventType } from '../../generated/liveChangesSubscription.graphql.ts'
import type { whoCanQuery } from '../../generated/whoCanQuery.graphql.ts'
import { Field } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MAX_ROWS, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { OrganizationBox } from './organization-box.tsx'
import { PermissionWays } from './permission-ways.tsx'
import { UserByAddress } from './user-by-address.tsx'

type Person = { id: string; name: string | null; email: string | null }
/** A permission of an API, asked in an organization or the tenant. */
type Asked = { api: string; permission: string; organizationId: string | null }

/** What changes who has a permission. */
const CHANGES: readonly EventType[] = [
  'API_UPDATED',
  'APP_ROLE_UPDATED',
  'APP_ROLE_DELETED',
  'USER_APP_ROLES_CHANGED',
  'USER_LOCKED',
  'USER_UNLOCKED',
  'USER_DELETED',
  'GROUP_UPDATED',
  'GROUP_DELETED',
  'GROUP_APP_ROLES_CHANGED',
  'GROUP_MEMBERS_ADDED',
  'GROUP_MEMBERS_REMOVED',
  'MEMBERSHIP_APP_ROLES_CHANGED',
  'MEMBERSHIP_CREATED',
  'MEMBERSHIP_DELETED',
]

/** A person, with how the permission is given. */
function PersonRow({
  person: { id, name, email },
  asked,
  fetchKey,
  isOpen = false,
}: {
  person: Person
  asked: Asked
  fetchKey: number
  isOpen?: boolean
}) {
  const [isAsked, setAsked] = useState(isOpen)
  const title = name ?? email ?? id
  return (
    <li>
      <div>
        <Link
          to="/users/$userId"
          params={{ userId: id }}
          search={{ tab: 'permissions', organization: asked.organizationId ?? undefined }}
        >
          {title}
        </Link>
        {name && email && <span>{email}</span>}
      </div>
      <button
        type="button"
        className="link"
        aria-expanded={isAsked}
        aria-label={t('How {name} gets {permission}', { name: title, permission: asked.permission })}
        onClick={() => setAsked(!isAsked)}
      >
        {t('How?')}
      </button>
      {isAsked && <PermissionWays variables={{ userId: id, ...asked }} fetchKey={fetchKey} />}
    </li>
  )
}

/** The people who have the permission, live, and the answer about one. */
function Holders({ asked }: { asked: Asked }) {
  const [shown, setShown] = useState(PAGE_SIZE)
  const [changes, setChanges] = useState(0)
  const [person, setPerson] = useState<Person | null>(null)
  const [{ viewer, whoCan }, refresh] = useScreenQuery<whoCanQuery>(
    graphql`
      query whoCanQuery($filter: PermissionFilter, $first: Int) {
        viewer {
          eventPosition
        }
        whoCan(filter: $filter, first: $first) {
          totalSize
          nodes {
            id
            name
            email
          }
        }
      }
    `,
    { filter: asked, first: PAGE_SIZE },
  )
  const mayFollow = useMay('events:read')
  const read = (first: number) => {
    setShown(first)
    refresh({ first: countPage(first) })
  }
  const people = whoCan?.nodes ?? []
  const total = whoCan?.totalSize ?? 0
  return (
    <>
      {mayFollow && (
        <LiveChanges
          types={CHANGES}
          after={viewer?.eventPosition}
          onChange={() => {
            setChanges((count) => count + 1)
            read(shown)
          }}
        />
      )}
      <UserByAddress
        label={t('Ask about one person, by e-mail address')}
        submitLabel={t('Ask')}
        isRunning={false}
        problem={null}
        onFound={setPerson}
      />
      {person && (
        <ul className="sessions permitted" aria-label={t('The person')}>
          <PersonRow key={person.id} person={person} asked={asked} fetchKey={changes} isOpen />
        </ul>
      )}
      <p className="hint" role="status">
        {total === 0
          ? t('Nobody has this permission.')
          : tCount(total, 'One person has it', '{count} people have it')}
      </p>
      <ul className="sessions permitted" aria-label={t('Who can?')}>
        {people.map(({ id, name, email }) => (
          <PersonRow
            key={id}
            person={{ id, name: name ?? null, email: email ?? null }}
            asked={asked}
            fetchKey={changes}
          />
        ))}
      </ul>
      <MoreRows
        hasMore={people.length < Math.min(total, MAX_ROWS)}
        isLoading={people.length < Math.min(shown, total)}
        load={() => read(people.length + PAGE_SIZE)}
      />
    </>
  )
}

/** Who has a permission of an API, in the tenant or in an organization. */
export function WhoCan({ api, permissions }: { api: string; permissions: readonly string[] }) {
  const [permission, setPermission] = useState(permissions[0] ?? '')
  const [organization, setOrganization] = useState<{ id: string; name: string } | null>(null)
  const [isChoosing, setChoosing] = useState(false)
  const mayChoose = useMay('organizations:read')
  const mayRead = useMay('users:read')
  const chosen = permissions.includes(permission) ? permission : permissions[0]
  if (!mayRead || chosen === undefined) return null
  const asked = { api, permission: chosen, organizationId: organization?.id ?? null }
  return (
    <section className="card">
      <h2>{t('Who can?')}</h2>
      <Field label={t('Permission')} name="asked">
        {(props) => (
          <select {...props} value={chosen} onChange={({ target }) => setPermission(target.value)}>
            {permissions.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {mayChoose && (
        <p>
          {t('Asked in')}{' '}
          <button type="button" className="link" aria-haspopup="dialog" onClick={() => setChoosing(true)}>
            {organization?.name ?? t('the tenant')} <span aria-hidden="true">▾</span>
          </button>
        </p>
      )}
      <Suspense fallback={<p className="hint">{t('Loading…')}</p>}>
        <Holders key={JSON.stringify(asked)} asked={asked} />
      </Suspense>
      {isChoosing && <OrganizationBox onChoose={setOrganization} onClose={() => setChoosing(false)} />}
    </section>
  )
}
