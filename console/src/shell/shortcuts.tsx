import { Dialog } from '../parts/dialog.tsx'
import { t } from '../words/words.ts'

const SHORTCUTS = [
  [t('Ctrl K or ⌘ K'), t('Find anything: a screen, an id, an address, a request')],
  ['/', t('Search in the screen')],
  [t('↑ ↓ Page Up Page Down Home End'), t('Move in a list')],
  ['Enter', t('Open the row')],
  ['Esc', t('Close a dialog')],
  ['?', t('Show this list')],
] as const

/** The keys of the console. */
export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t('Keyboard')} onClose={onClose}>
    <dl className="facts">
      {SHORTCUTS.map(([keys, action]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{action}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
