import { pick, type Random } from '../random.ts'
import { type Palette, type PaletteName, palettes, type SceneName } from './palettes.ts'

interface Mood {
  palette: Palette
  scene: SceneName
}

/** Chooses light and place from the words of the prompt, or at random if they say nothing. */
export function chooseMood(prompt: string, random: Random): Mood {
  const words = new Set(prompt.toLowerCase().match(/\p{L}+/gu))
  const matching = hints.filter(hint => hint.words.split(' ').some(word => words.has(word)))
  const scene = matching.find(hint => hint.scene !== undefined)?.scene
  const named = matching.find(hint => hint.palettes !== undefined)?.palettes
  const palette: Palette = palettes[pick(random, named ?? palettesFor(scene))]
  return { palette, scene: scene ?? pick(random, palette.scenes) }
}

type PaletteNames = readonly [PaletteName, ...PaletteName[]]

interface Hint {
  words: string
  palettes?: PaletteNames
  scene?: SceneName
}

// The first matching hint with palettes decides the palette, and the first with a scene decides the scene, so specific
// hints come first.
const hints: readonly Hint[] = [
  { words: 'aurora northern borealis', palettes: ['aurora'] },
  { words: 'night midnight moon moonlight star stars starry galaxy space', palettes: ['night', 'aurora'] },
  { words: 'sunset evening golden fire red', palettes: ['sunset', 'ember'] },
  { words: 'dusk twilight blue purple', palettes: ['dusk'] },
  { words: 'dawn sunrise morning pink', palettes: ['dawn'] },
  { words: 'desert dune dunes sand canyon sahara', palettes: ['desert', 'ember'], scene: 'dunes' },
  { words: 'tropical tropics palm palms beach paradise', palettes: ['tropical'], scene: 'sea' },
  { words: 'snow snowy winter ice arctic glacier', palettes: ['arctic', 'alpine'], scene: 'peaks' },
  { words: 'autumn fall harvest', palettes: ['autumn'] },
  { words: 'sea ocean island islands coast wave waves boat ship harbour harbor', scene: 'sea' },
  { words: 'forest wood woods tree trees jungle hill hills valley mist fog', scene: 'hills' },
  { words: 'mountain mountains peak peaks lake alps alpine river', scene: 'peaks' },
]

function palettesFor(scene: SceneName | undefined): PaletteNames {
  const names = Object.keys(palettes) as [PaletteName, ...PaletteName[]]
  if (scene === undefined) return names
  const [first, ...rest] = names.filter(name => (palettes[name] as Palette).scenes.includes(scene))
  return first === undefined ? names : [first, ...rest]
}
