import { ApiError } from '../api/api-error.ts'
import { signOut, startSignIn } from '../auth/sign-in.ts'
import { CONSOLE_PATH } from '../config.ts'
import { CopiedText } from '../parts/copied-text.tsx'
import { t, tNodes } from '../words/words.ts'

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** An error that leaves nothing to show. */
export const Failure = ({ error }: { error: unknown }) => (
  <main className="outcome" role="alert">
    <h1>{t('The console cannot show this')}</h1>
    <p>{describe(error)}</p>
    {error instanceof ApiError && error.requestId && (
      <p>
        {t('Number of the request:')} <CopiedText text={error.requestId} />
      </p>
    )}
    <p className="actions">
      <button type="button" className="button" onClick={() => location.reload()}>
        {t('Try again')}
      </button>
      <button type="button" className="button quiet" onClick={() => void startSignIn(CONSOLE_PATH)}>
        {t('Sign in again')}
      </button>
    </p>
  </main>
)

export const NotFound = () => (
  <div className="outcome">
    <h1>{t('This page does not exist')}</h1>
    <p>{t('The address may be from another version of the console.')}</p>
  </div>
)

/** For users who manage an organization, at other screens. */
export const NoRight = () => (
  <div className="outcome">
    <h1>{t('You may not see this')}</h1>
    <p>{t('Administrators of an organization manage it alone.')}</p>
  </div>
)

/** For users who may not see anything of the tenant. */
export const NoRole = () => (
  <main className="outcome">
    <h1>{t('You have no role here')}</h1>
    <p>
      {tNodes(
        'You are signed in, but no role permits you to see this tenant. An administrator gives roles, and so does {command}.',
        { command: <code>vestibule admin grant</code> },
      )}
    </p>
    <p className="actions">
      <button type="button" className="button quiet" onClick={() => void signOut()}>
        {t('Sign out')}
      </button>
    </p>
  </main>
)
