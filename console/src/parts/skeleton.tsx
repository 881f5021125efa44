import { t } from '../words/words.ts'

const ROWS = Array.from({ length: 8 }, (_, index) => index)

/** The shape of a screen whose rows are on their way. It appears only when they take longer than a glance. */
export const ListSkeleton = () => (
  <div className="skeleton" role="status" aria-label={t('Loading')}>
    {ROWS.map((row) => (
      <span key={row} />
    ))}
  </div>
)
