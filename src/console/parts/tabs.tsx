import type { Children } from '#jsx/jsx-runtime'

interface Tab {
  name: string
  content: Children
}

/** Panels of which one shows at a time. Without scripts, all show one below the other. `id` is unique on the page. */
export const Tabs = ({ id, label, tabs, end }: { id: string; label: string; tabs: readonly Tab[]; end?: Children }) => (
  <div class="card" data-tabs>
    <div class="row between">
      <div role="tablist" aria-label={label}>
        {tabs.map(({ name }, index) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-${index}`}
            aria-selected={String(index === 0)}
            {...(index > 0 && { tabindex: -1 })}
          >
            {name}
          </button>
        ))}
      </div>
      {end}
    </div>
    {tabs.map(({ name, content }, index) => (
      <div class="pad" role="tabpanel" key={name} id={`${id}-${index}`} aria-labelledby={`${id}-tab-${index}`}>
        {content}
      </div>
    ))}
  </div>
)
