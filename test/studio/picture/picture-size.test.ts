import t from 'tap'
import {
  type AspectRatio,
  chooseAspectRatio,
  pictureSize,
  type Resolution,
} from '../../../src/studio/picture/picture-size.ts'

const documented: Record<AspectRatio, [width: number, height: number]> = {
  '1:1': [1024, 1024],
  '2:3': [848, 1264],
  '3:2': [1264, 848],
  '3:4': [896, 1200],
  '4:3': [1200, 896],
  '4:5': [928, 1152],
  '5:4': [1152, 928],
  '9:16': [768, 1376],
  '16:9': [1376, 768],
  '21:9': [1584, 672],
  '1:4': [512, 2048],
  '4:1': [2048, 512],
  '1:8': [384, 3072],
  '8:1': [3072, 384],
}

const scales: Record<Resolution, number> = { '1K': 1, '2K': 2, '4K': 4 }

t.test('every ratio has its documented size at every resolution', async t => {
  for (const [ratio, [width, height]] of Object.entries(documented) as [AspectRatio, [number, number]][]) {
    for (const [resolution, scale] of Object.entries(scales) as [Resolution, number][]) {
      t.same(
        pictureSize(ratio, resolution),
        { width: width * scale, height: height * scale },
        `${ratio} at ${resolution}`,
      )
    }
  }
})

t.test('the words of a prompt choose the ratio', async t => {
  t.equal(chooseAspectRatio('A Portrait of a lighthouse keeper'), '3:4')
  t.equal(chooseAspectRatio('phone wallpaper, waves'), '9:16', 'the first meaningful word wins')
  t.equal(chooseAspectRatio('wallpaper for a phone'), '16:9')
  t.equal(chooseAspectRatio('panorama of the Alps'), '21:9')
  t.equal(chooseAspectRatio('website banner.'), '4:1')
  t.equal(chooseAspectRatio('a landscape'), '3:2')
})

t.test('a prompt that does not mention a shape gets a square', async t => {
  t.equal(chooseAspectRatio(''), '1:1')
  t.equal(chooseAspectRatio('a cat'), '1:1')
  t.equal(chooseAspectRatio('a microphone'), '1:1', 'only whole words count')
  t.equal(chooseAspectRatio('constructor toString __proto__'), '1:1')
})
