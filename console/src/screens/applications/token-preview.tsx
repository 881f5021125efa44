import { CatchBoundary } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { tokenPreviewQuery } from '../../generated/tokenPreviewQuery.graphql.ts'
import { Field } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { QueryProblem } from '../../parts/query-problem.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { useTypedText } from '../../parts/typed-text.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { UserByAddress } from '../permissions/user-by-address.tsx'

/** A text of the preview is read when the person pauses. */
const PAUSE_MS = 400

type Asked = { scope: string; resource: string; organization: string }

/** What the tokens of a user would have, with what is saved. */
export function TokenPreview({
  clientId,
  updatedAt,
  scopes,
}: {
  clientId: string
  updatedAt: string
  /** The scopes that are asked for at first. */
  scopes: readonly string[]
}) {
  const mayRead = useMay('users:read')
  const mayFollow = useMay('events:read')
  const [user, setUser] = useState<{ id: string; name: string | null; email: string } | null>(null)
  const [asked, setAsked] = useState<Asked>({ scope: scopes.join(' '), resource: '', organization: '' })
  const [attempt, setAttempt] = useState(0)
  const key = JSON.stringify([user?.id, updatedAt, asked, attempt])
  if (!mayRead) return null
  return (
    <section className="card">
      <h2>{t('Preview')}</h2>
      <p className="hint">
        {t(
          'What the tokens of a person would have, with what is saved. Nothing is signed, and nobody signs in.',
        )}
      </p>
      <UserByAddress
        label={t('Person, by e-mail address')}
        submitLabel={t('Show tokens')}
        isRunning={false}
        problem={null}
        onFound={setUser}
      />
      {user && (
        <>
          {mayFollow && (
            <LiveChanges
              subjectId={user.id}
              after={undefined}
              onChange={() => setAttempt((former) => former + 1)}
            />
          )}
          <CatchBoundary
            getResetKey={() => key}
            errorComponent={({ error }) => (
              <>
                <AskedFields asked={asked} organizations={[]} onChange={setAsked} />
                <QueryProblem error={error} onRetry={() => setAttempt(attempt + 1)} />
              </>
            )}
          >
            <Suspense fallback={<ListSkeleton />}>
              <Tokens
                variables={{
                  userId: user.id,
                  clientId,
                  scope: asked.scope || null,
                  resource: asked.resource || null,
                  organization: asked.organization || null,
                }}
                fetchKey={key}
                name={user.name ?? user.email}
                asked={asked}
                onChange={setAsked}
              />
            </Suspense>
          </CatchBoundary>
        </>
      )}
    </section>
  )
}

function AskedText({
  label,
  name,
  hint,
  text,
  onSend,
}: {
  label: string
  name: string
  hint: string
  text: string
  onSend: (text: string) => void
}) {
  const { entered, setEntered } = useTypedText({ text, pauseMs: PAUSE_MS, onSend })
  return (
    <Field label={label} name={name} hint={hint}>
      {(props) => (
        <input
          {...props}
          autoComplete="off"
          spellCheck={false}
          value={entered}
          onChange={({ target }) => setEntered(target.value)}
        />
      )}
    </Field>
  )
}

function AskedFields({
  asked,
  organizations,
  onChange,
}: {
  asked: Asked
  organizations: readonly { readonly slug: string; readonly name: string }[]
  onChange: (asked: Asked) => void
}) {
  return (
    <div className="settings">
      <AskedText
        label={t('Scopes')}
        name="scope"
        hint={t('Separated by spaces.')}
        text={asked.scope}
        onSend={(scope) => onChange({ ...asked, scope })}
      />
      <AskedText
        label={t('API')}
        name="resource"
        hint={t('The identifier of one, for its roles and permissions.')}
        text={asked.resource}
        onSend={(resource) => onChange({ ...asked, resource })}
      />
      {organizations.length > 0 && (
        <Field label={t('Organization')} name="organization">
          {(props) => (
            <select
              {...props}
              value={asked.organization}
              onChange={({ target }) => onChange({ ...asked, organization: target.value })}
            >
              <option value="">{t('none')}</option>
              {organizations.map(({ slug, name }) => (
                <option key={slug} value={slug}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </div>
  )
}

function Tokens({
  variables,
  fetchKey,
  name,
  asked,
  onChange,
}: {
  variables: tokenPreviewQuery['variables']
  fetchKey: string
  name: string
  asked: Asked
  onChange: (asked: Asked) => void
}) {
  const { user, previewToken } = useLazyLoadQuery<tokenPreviewQuery>(
    graphql`
      query tokenPreviewQuery(
        $userId: ID!
        $clientId: ID!
        $scope: String
        $resource: String
        $organization: String
      ) {
        user(id: $userId) {
          organizations(first: 100) {
            nodes {
              id
              slug
              name
            }
          }
        }
        previewToken(
          userId: $userId
          clientId: $clientId
          scope: $scope
          resource: $resource
          organization: $organization
        ) {
          accessToken
          idToken
          userinfo
          omitted {
            target
            claims
          }
        }
      }
    `,
    variables,
    { fetchKey, fetchPolicy: 'network-only' },
  )
  const shown = previewToken && {
    [t('Access token')]: previewToken.accessToken,
    [t('ID token')]: previewToken.idToken,
    [t('Userinfo')]: previewToken.userinfo,
  }
  return (
    <>
      <h3>{name}</h3>
      <AskedFields asked={asked} organizations={user?.organizations?.nodes ?? []} onChange={onChange} />
      {!shown && <p className="empty">{t('You may not read all that the tokens have.')}</p>}
      {previewToken?.omitted.map(({ target, claims }) => (
        <p key={target} className="hint">
          {t('Left out of {target}, because they are too large: {claims}', {
            target,
            claims: claims.join(', '),
          })}
        </p>
      ))}
      <div className="previews">
        {Object.entries(shown ?? {}).map(
          ([label, claims]) =>
            claims && (
              <section key={label} aria-label={label}>
                <h3>{label}</h3>
                <pre>{JSON.stringify(claims, null, 2)}</pre>
              </section>
            ),
        )}
      </div>
    </>
  )
}
